#include "apps/monitor_identity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.h"
#include "base/random.h"
#include "kubernetes/base64.h"
#include "kubernetes/client_api.h"
#include "messaging/certificate.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

constexpr const char* kPath = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
constexpr Duration kFirstLook = 1s, kLongestLook = 30s;
constexpr Duration kApproveWithin = 1h;  // then it is asked anew: the cluster forgets requests by itself
constexpr Duration kAfterFailure = 30s, kLongestAfterFailure = 10min;  // twice as long each time
constexpr Duration kCheckAge = 60s;

// For nobody's eyes but ours, whatever the umask, and never half of it.
Status write_private(const std::string& path, const std::string& text) {
  const std::string partial = path + ".partial";
  (void)::unlink(partial.c_str());
  const int fd = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return invalid(partial + ": " + std::strerror(errno));
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(fd, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) break;
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  const bool is_whole = done == text.size() && ::fsync(fd) == 0;
  (void)::close(fd);
  if (is_whole && std::rename(partial.c_str(), path.c_str()) == 0) return {};
  const std::string why = std::strerror(errno);
  (void)::unlink(partial.c_str());
  return invalid(path + ": " + why);
}

}  // namespace

std::string signing_request_json(const std::string& node, const std::string& signer,
                                 const std::string& request_pem, long valid_for_seconds,
                                 const std::string& role) {
  return Json{{"apiVersion", "certificates.k8s.io/v1"},
              {"kind", "CertificateSigningRequest"},
              {"metadata", {{"generateName", "evenkeel-" + role + "-" + node + "-"}}},
              {"spec",
               {{"request", messaging::to_base64(request_pem)},
                {"signerName", signer},
                {"expirationSeconds", valid_for_seconds},
                {"usages", {"digital signature", "client auth"}}}}}
      .dump();
}

Result<std::string> certificate_in(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  const auto status = json.is_object() ? json.find("status") : json.end();
  if (!json.is_object()) return invalid("expected a CertificateSigningRequest");
  if (status == json.end() || !status->is_object()) return std::string();
  if (const auto conditions = status->find("conditions");
      conditions != status->end() && conditions->is_array()) {
    for (const Json& condition : *conditions) {
      const std::string type = condition.value("type", "");
      if (type == "Denied" || type == "Failed")
        return invalid("the certificate was not given (" + type + "): " + condition.value("message", ""));
    }
  }
  const auto found = status->find("certificate");
  if (found == status->end() || !found->is_string()) return std::string();
  auto pem = kubernetes::decode_base64(found->get<std::string>());
  if (!pem) return invalid("status.certificate: expected base64");
  return *std::move(pem);
}

std::time_t time_to_renew(std::string_view certificate_pem, const std::string& name, double share) {
  const auto facts = messaging::read_certificate(certificate_pem);
  // One of another node, in a folder that was copied, is none.
  if (!facts || facts->common_name != name) return 0;
  return messaging::renewal_time(*facts, share);
}

struct MonitorIdentity::Keeper {
  explicit Keeper(Options given)
      : options(std::move(given)), random(static_cast<std::uint64_t>(::getpid())) {}

  void run();
  Status renew();
  bool sleep(Duration time);  // false: told to end
  bool is_due();

  const Options options;
  Random random;
  std::time_t due = 0;
  std::string due_of;  // the certificate for which `due` was drawn
  std::atomic<bool> stopping{false};
  kubernetes::EventLoop loop;
  std::unique_ptr<kubernetes::ApiClient> client;
  std::thread thread;
};

bool MonitorIdentity::Keeper::sleep(Duration time) {
  return !loop.run_for(time, [this] { return stopping.load(); }) && !stopping;
}

bool MonitorIdentity::Keeper::is_due() {
  const auto text = read_file(files_in(options.folder, options.role).certificate);
  if (!text) return true;
  if (*text != due_of) {
    due_of = *text;
    due = time_to_renew(*text, agent_name(options.role, options.node), random.uniform());
  }
  return std::time(nullptr) >= due;
}

Status MonitorIdentity::Keeper::renew() {
  auto made =
      messaging::make_certificate_request(agent_name(options.role, options.node), agents_group(options.role));
  if (!made) return made.error();
  kubernetes::ApiRequest ask;
  ask.method = "POST";
  ask.path = kPath;
  ask.content_type = "application/json";
  ask.body = signing_request_json(options.node, options.signer, made->request_pem, options.valid_for_seconds,
                                  options.role);
  const kubernetes::ApiAnswer asked = client->call_now(ask);
  if (!asked.ok()) return asked.error();
  const std::string name = Json::parse(asked.body, nullptr, false).value("/metadata/name"_json_pointer, "");
  if (name.empty()) return invalid("the server gave the request no name");
  options.say("certificate asked for: it waits for approval (kubectl certificate approve " + name + ")");
  const Time end = client->steady_now() + kApproveWithin;
  for (Duration pause = kFirstLook; client->steady_now() < end; pause = std::min(kLongestLook, 2 * pause)) {
    if (!sleep(pause)) return unavailable("told to end");
    kubernetes::ApiRequest look;
    look.path = std::string(kPath) + "/" + name;
    const kubernetes::ApiAnswer seen = client->call_now(look);
    if (seen.code == 404) return unavailable("the request " + name + " is gone");
    if (!seen.ok()) continue;
    auto certificate = certificate_in(seen.body);
    if (!certificate) return certificate.error();
    if (certificate->empty()) continue;
    const messaging::TlsFiles files = files_in(options.folder, options.role);
    if (auto written = write_private(files.key, made->key_pem); !written) return written;
    if (auto written = write_private(files.certificate, *certificate); !written) return written;
    options.say("certificate received");
    return {};
  }
  return unavailable("nobody approved " + name);
}

void MonitorIdentity::Keeper::run() {
  Duration pause = kAfterFailure;
  while (!stopping) {
    if (is_due()) {
      if (const Status renewed = renew(); !renewed && !stopping) {
        options.say("no certificate: " + renewed.error().message);
        (void)sleep(pause + from_seconds(random.between(0, to_seconds(pause))));
        pause = std::min(kLongestAfterFailure, 2 * pause);
      } else {
        pause = kAfterFailure;
      }
      continue;
    }
    (void)sleep(kCheckAge);
  }
}

messaging::TlsFiles MonitorIdentity::files_in(const std::string& folder, const std::string& role) {
  return {.certificate = folder + "/" + role + ".crt", .key = folder + "/" + role + ".key", .authority = ""};
}

Result<std::unique_ptr<MonitorIdentity>> MonitorIdentity::start(Options options) {
  if (::mkdir(options.folder.c_str(), 0700) != 0 && errno != EEXIST)
    return invalid("--state " + options.folder + ": " + std::strerror(errno));
  if (auto writable = check_writable(files_in(options.folder, options.role).certificate); !writable)
    return invalid("--state: " + writable.error().message);
  auto keeper = std::make_unique<Keeper>(std::move(options));
  kubernetes::ApiClient::Options client_options;
  client_options.user_agent = "evenkeel-" + keeper->options.role;
  client_options.max_connections = 1;
  auto client = kubernetes::ApiClient::open(keeper->loop, keeper->options.access, read_file, client_options);
  if (!client) return client.error();
  keeper->client = *std::move(client);
  try {
    keeper->thread = std::thread([keeper = keeper.get()] { keeper->run(); });
  } catch (const std::exception& failure) {
    return unavailable(std::string("no thread to ask for certificates from: ") + failure.what());
  }
  return std::unique_ptr<MonitorIdentity>(new MonitorIdentity(std::move(keeper)));
}

MonitorIdentity::MonitorIdentity(std::unique_ptr<Keeper> keeper) : keeper_(std::move(keeper)) {}

MonitorIdentity::~MonitorIdentity() {
  keeper_->stopping = true;
  keeper_->loop.post([] {});
  keeper_->thread.join();
}

}  // namespace evenkeel::apps
