// What the API server itself allows: the writes of a scheduler without a scheduler. For `evenkeel bench
// race`.
//
//   bare_client KUBECONFIG bind NODES EVENTS IN_FLIGHT   binds every pending pod, nodes by turns; EVENTS 1:
//   with an
//                                                        Event each, 0: without
//   bare_client KUBECONFIG create PATH COUNT             the body on stdin, INDEX in it replaced by 0, 1, …
//
// One client of ours, as many requests at a time as the scheduler has; one line of JSON at the end.
#include <sys/resource.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/numbers.h"
#include "kubernetes/client_api.h"
#include "kubernetes/list_watch.h"
#include "kubernetes/writes.h"

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

int fail(const std::string& message) {
  std::cerr << "bare_client: " << message << "\n";
  return 2;
}

double seconds_since(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

double processor_seconds() {
  rusage usage{};
  (void)getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Sends `count` requests, so many at a time, and counts what became of them. The first refusal is printed.
class Sender {
 public:
  using Maker = std::function<ApiRequest(std::size_t)>;
  Sender(ApiClient& client, std::size_t count, std::size_t in_flight, Maker make)
      : client_(client), count_(count), make_(std::move(make)) {
    for (std::size_t i = 0; i < in_flight; ++i) send_next();
  }
  bool is_done() const { return done_ == count_; }
  std::size_t failed() const { return failed_; }

 private:
  void send_next() {
    if (sent_ == count_) return;
    client_.call(make_(sent_++), [this](const ApiAnswer& answer) {
      if (!answer.ok() && failed_++ == 0) std::cerr << "bare_client: " << answer.error().message << "\n";
      ++done_;
      send_next();
    });
  }

  ApiClient& client_;
  std::size_t count_, sent_ = 0, done_ = 0, failed_ = 0;
  Maker make_;
};

Result<std::vector<PodReference>> pending_pods(ApiClient& client) {
  std::vector<PodReference> pods;
  ListWatch::Handlers handlers;
  handlers.changed = [&](const ObjectChange& change) {
    const auto& identity = change.object.identity;
    pods.push_back({identity.name_space, identity.name, identity.uid});
  };
  bool synced = false;
  handlers.synced = [&] { synced = true; };
  handlers.trouble = [](const std::string& what) { std::cerr << "bare_client: " << what << "\n"; };
  ListWatch::Options only_pending;
  only_pending.field_selector = "spec.nodeName=";
  ListWatch lister(client, types::pods(), only_pending, std::move(handlers));
  lister.start();
  if (!client.run_for(5min, [&] { return synced; })) return invalid("no list of pods within five minutes");
  return pods;
}

int say(std::size_t count, std::size_t failed, Clock::time_point began, double processor_before) {
  const double seconds = seconds_since(began);
  std::cout << json{{"count", count},
                    {"failed", failed},
                    {"seconds", seconds},
                    {"cpu_seconds", processor_seconds() - processor_before}}
                   .dump()
            << "\n";
  return failed == 0 ? 0 : 1;
}

int bind(ApiClient& client, std::size_t nodes, bool with_events, std::size_t in_flight) {
  const auto pods = pending_pods(client);
  if (!pods) return fail(pods.error().message);
  const auto node_of = [&](std::size_t index) { return "node-" + std::to_string(index % nodes); };
  const auto began = Clock::now();
  const double processor_before = processor_seconds();
  Sender bindings(client, pods->size(), in_flight, [&](std::size_t index) {
    return bind_request((*pods)[index], node_of(index), {}, WireFormat::protobuf);
  });
  Sender events(client, with_events ? pods->size() : 0, in_flight, [&](std::size_t index) {
    EventRecord event;
    event.about = (*pods)[index];
    event.name = event.about.name + "." + std::to_string(index);
    event.reason = "Scheduled";
    event.message =
        "Successfully assigned " + event.about.name_space + "/" + event.about.name + " to " + node_of(index);
    return event_request(event, client.now(), WireFormat::protobuf);
  });
  (void)client.run_for(30min, [&] { return bindings.is_done() && events.is_done(); });
  return say(pods->size(), bindings.failed() + events.failed(), began, processor_before);
}

int create(ApiClient& client, const std::string& path, std::size_t count, const std::string& body) {
  const auto began = Clock::now();
  const double processor_before = processor_seconds();
  Sender sender(client, count, 32, [&](std::size_t index) {
    std::string text = body;
    constexpr std::string_view kIndex = "INDEX";
    for (auto at = text.find(kIndex); at != std::string::npos; at = text.find(kIndex, at))
      text.replace(at, kIndex.size(), std::to_string(index));
    return ApiRequest{"POST", path, "application/json", std::move(text), WireFormat::protobuf};
  });
  (void)client.run_for(30min, [&] { return sender.is_done(); });
  return say(count, sender.failed(), began, processor_before);
}

int run(const std::vector<std::string>& words) {
  if (words.size() < 4) return fail("usage: bare_client KUBECONFIG bind|create …, see the top of its source");
  const auto access = find_access({words[0], ""}, kubernetes_environment(), read_file);
  if (!access) return fail(access.error().message);
  EventLoop loop;
  const auto client = ApiClient::open(loop, *access, read_file, {});
  if (!client) return fail(client.error().message);
  const auto number = [&](std::size_t index) {
    return static_cast<std::size_t>(index < words.size() ? parse_integer(words[index]).value_or(1) : 1);
  };
  if (words[1] == "bind") return bind(**client, number(2), number(3) != 0, number(4));
  if (words[1] == "create")
    return create(**client, words[2], number(3), {std::istreambuf_iterator<char>(std::cin), {}});
  return fail("no command " + words[1]);
}

}  // namespace
}  // namespace evenkeel::kubernetes

int main(int count, char** words) {
  return evenkeel::kubernetes::run(std::vector<std::string>(words + 1, words + count));
}
