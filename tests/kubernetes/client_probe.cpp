// The client driven from outside: one command, JSON lines out. For tests against a real API server.
//
//   client_probe KUBECONFIG follow KIND [--format F] [--page N] [--watch-seconds S]   until stdin ends
//   client_probe KUBECONFIG list KIND [--format F] [--page N]
//   client_probe KUBECONFIG send METHOD PATH [CONTENT_TYPE]                            body on stdin
//   client_probe KUBECONFIG bind|evict NAMESPACE NAME UID [NODE]
//   client_probe KUBECONFIG bind-all NODES                                             binds all pending pods
//   client_probe KUBECONFIG scale NAMESPACE DEPLOYMENT REPLICAS
//   client_probe KUBECONFIG lease NAMESPACE NAME HOLDER [RESOURCE_VERSION]
//   client_probe KUBECONFIG event NAMESPACE POD UID REASON MESSAGE
//   client_probe KUBECONFIG condition NAMESPACE POD UID REASON MESSAGE
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <deque>
#include <iostream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.h"
#include "base/numbers.h"
#include "kubernetes/client_api.h"
#include "kubernetes/list_watch.h"
#include "kubernetes/writes.h"

namespace evenkeel::kubernetes {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

void say(const json& line) {
  const std::string text = line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  (void)std::fwrite(text.data(), 1, text.size(), stdout);
  (void)std::fflush(stdout);
}

int fail(const std::string& message) {
  std::cerr << "client_probe: " << message << "\n";
  return 2;
}

Result<ResourceType> type_named(const std::string& plural) {
  for (const ResourceType& type :
       {types::pods(), types::nodes(), types::namespaces(), types::services(),
        types::replication_controllers(), types::persistent_volumes(), types::persistent_volume_claims(),
        types::events(), types::replica_sets(), types::stateful_sets(), types::storage_classes(),
        types::csi_nodes(), types::csi_drivers(), types::csi_storage_capacities(),
        types::volume_attachments(), types::pod_disruption_budgets(), types::priority_classes(),
        types::leases(), ResourceType{"example.com/v1", "Widget", "widgets"}}) {
    if (type.plural == plural) return type;
  }
  return invalid("no kind called " + plural);
}

struct Options {
  Words words;
  std::map<std::string, std::string> flags;

  std::string flag(const std::string& name, const std::string& fallback) const {
    const auto found = flags.find(name);
    return found == flags.end() ? fallback : found->second;
  }
  ListWatch::Options follow() const {
    ListWatch::Options options;
    options.page_size = static_cast<int>(parse_integer(flag("--page", "500")).value_or(500));
    options.watch_time = std::chrono::seconds(parse_integer(flag("--watch-seconds", "300")).value_or(300));
    if (const auto format = flag("--format", ""); !format.empty()) {
      options.format = format == "json" ? WireFormat::json : WireFormat::protobuf;
    }
    return options;
  }
};

Options parse_options(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word.starts_with("--") && i + 1 < count) {
      options.flags[word] = words[++i];
    } else {
      options.words.push_back(word);
    }
  }
  return options;
}

std::string read_stdin() { return {std::istreambuf_iterator<char>(std::cin), {}}; }

int tell(const ApiAnswer& answer) {
  json line = {{"code", answer.code}, {"reason", answer.status.reason}, {"message", answer.status.message}};
  if (answer.ok()) {
    if (const auto object = read_object(answer.format, answer.body)) {
      line["resourceVersion"] = object->identity.resource_version;
      line["uid"] = object->identity.uid;
    }
  }
  say(line);
  return 0;
}

json identity_line(const char* what, const ObjectIdentity& identity) {
  return {{"event", what}, {"key", identity.key()}, {"uid", identity.uid}, {"rv", identity.resource_version}};
}

json counts_line(const ListWatch& follower) {
  const auto& counts = follower.counts();
  return {{"event", "counts"},         {"lists", counts.lists},   {"pages", counts.pages},
          {"watches", counts.watches}, {"events", counts.events}, {"bookmarks", counts.bookmarks},
          {"damaged", counts.damaged}};
}

int follow(ApiClient& client, const ResourceType& type, const Options& options) {
  ListWatch::Handlers handlers;
  handlers.changed = [](const ObjectChange& change) {
    const char* const what = change.type == ObjectChange::Type::added     ? "added"
                             : change.type == ObjectChange::Type::changed ? "changed"
                                                                          : "deleted";
    say(identity_line(what, change.object.identity));
  };
  handlers.synced = [] { say({{"event", "synced"}}); };
  handlers.trouble = [](const std::string& what) { say({{"event", "trouble"}, {"what", what}}); };
  ListWatch follower(client, type, options.follow(), std::move(handlers));
  follower.start();
  bool ended = false;
  std::thread reader([&] {
    (void)read_stdin();
    client.loop().post([&] { ended = true; });
  });
  while (!client.loop().run_for(std::chrono::hours(1), [&] { return ended; })) {
  }
  reader.join();
  say(counts_line(follower));
  return 0;
}

// Every object once, with its JSON as the readers of this program will see it.
int list(ApiClient& client, const ResourceType& type, const Options& options) {
  ListWatch::Handlers handlers;
  handlers.changed = [](const ObjectChange& change) {
    json line = identity_line("object", change.object.identity);
    line["object"] = json::parse(change.object.json);
    say(line);
  };
  bool synced = false;
  handlers.synced = [&] { synced = true; };
  handlers.trouble = [](const std::string& what) { say({{"event", "trouble"}, {"what", what}}); };
  ListWatch lister(client, type, options.follow(), std::move(handlers));
  lister.start();
  if (!client.loop().run_for(std::chrono::minutes(5), [&] { return synced; }))
    return fail("no list in 5 minutes");
  say(counts_line(lister));
  return 0;
}

// What a bare client can do: a binding per pending pod, as many at a time as there are connections.
int bind_all(ApiClient& client, std::size_t nodes) {
  std::deque<PodReference> waiting;
  ListWatch::Handlers handlers;
  handlers.changed = [&](const ObjectChange& change) {
    const auto& identity = change.object.identity;
    waiting.push_back({identity.name_space, identity.name, identity.uid});
  };
  bool synced = false;
  handlers.synced = [&] { synced = true; };
  handlers.trouble = [](const std::string& what) { say({{"event", "trouble"}, {"what", what}}); };
  ListWatch::Options only_pending;
  only_pending.field_selector = "spec.nodeName=";
  std::size_t bound = 0, failed = 0, asked = 0;
  {
    ListWatch lister(client, types::pods(), only_pending, std::move(handlers));
    lister.start();
    if (!client.loop().run_for(std::chrono::minutes(5), [&] { return synced; })) return fail("no list");
  }
  const auto began = std::chrono::steady_clock::now();
  for (const PodReference& pod : waiting) {
    client.call(bind_request(pod, "node-" + std::to_string(asked++ % nodes)), [&](const ApiAnswer& answer) {
      ++(answer.ok() ? bound : failed);
      if (!answer.ok()) say({{"event", "trouble"}, {"what", answer.error().message}});
    });
  }
  (void)client.loop().run_for(std::chrono::minutes(10), [&] { return bound + failed == waiting.size(); });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  say({{"bound", bound}, {"failed", failed}, {"seconds", took.count()}});
  return 0;
}

int run(ApiClient& client, const Options& options) {
  const Words& words = options.words;
  const std::string& what = words[1];
  const auto word = [&](std::size_t index) { return index < words.size() ? words[index] : std::string(); };
  if (what == "follow" || what == "list") {
    const auto type = type_named(word(2));
    if (!type) return fail(type.error().message);
    return what == "list" ? list(client, *type, options) : follow(client, *type, options);
  }
  const Time now = client.loop().now();
  const PodReference pod{word(2), word(3), word(4)};
  if (what == "send") {
    ApiRequest request{word(2), word(3), word(4), word(4).empty() ? "" : read_stdin(), WireFormat::json};
    return tell(client.call_now(std::move(request)));
  }
  if (what == "bind") return tell(client.call_now(bind_request(pod, word(5))));
  if (what == "evict") return tell(client.call_now(evict_request(pod)));
  if (what == "bind-all")
    return bind_all(client, static_cast<std::size_t>(parse_integer(word(2)).value_or(1)));
  if (what == "scale") {
    const auto replicas = static_cast<std::int32_t>(parse_integer(word(4)).value_or(0));
    return tell(
        client.call_now(scale_request({"apps/v1", "Deployment", "deployments"}, word(2), word(3), replicas)));
  }
  if (what == "lease") {
    const LeaseRecord lease{word(4), 15, now, now, 1};
    return tell(client.call_now(word(5).empty() ? create_lease_request(word(2), word(3), lease)
                                                : replace_lease_request(word(2), word(3), word(5), lease)));
  }
  if (what == "event") {
    EventRecord event;
    event.name = pod.name + ".probe";
    event.about = pod;
    event.reason = word(5);
    event.message = word(6);
    return tell(client.call_now(event_request(event, now)));
  }
  if (what == "condition") {
    return tell(
        client.call_now(pod_condition_request(pod, {"PodScheduled", "False", word(5), word(6)}, now)));
  }
  return fail("no command " + what);
}

int probe(int count, char** words) {
  const Options options = parse_options(count, words);
  if (options.words.size() < 2) return fail("usage: client_probe KUBECONFIG COMMAND …");
  const auto access = find_access({options.words[0], ""}, kubernetes_environment(), read_file);
  if (!access) return fail(access.error().message);
  EventLoop loop;
  const auto client = ApiClient::open(loop, *access, read_file, {});
  if (!client) return fail(client.error().message);
  return run(**client, options);
}

}  // namespace
}  // namespace evenkeel::kubernetes

int main(int count, char** words) { return evenkeel::kubernetes::probe(count, words); }
