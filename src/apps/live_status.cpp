#include "apps/live_status.h"

#include <chrono>

#include "base/file.h"
#include "kubernetes/http_url.h"

namespace evenkeel::apps {
namespace {

Time wall_clock() {
  return Time(std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
}

// One line, as secrets are kept in files.
Result<std::string> read_token(const std::string& file) {
  if (file.empty()) return std::string();
  Result<std::string> text = read_file(file);
  if (!text) return text.error();
  while (!text->empty() && (text->back() == '\n' || text->back() == '\r')) text->pop_back();
  if (text->empty()) return invalid("--listen-token-file: " + file + " is empty");
  return text;
}

}  // namespace

LiveReporter::Options reporter_options(const LiveOptions& options, const kubernetes::ClusterAccess& access,
                                       const kubernetes::ApiClient& client) {
  LiveReporter::Options reporter;
  reporter.shadow = options.shadow;
  reporter.lease = options.configuration.leader_election.name;
  if (const auto url = kubernetes::parse_url(access.server)) reporter.api_server = url->authority();
  reporter.requests = [&client] {
    std::map<LiveTraffic::Request, std::uint64_t> requests;
    for (const auto& [what, count] : client.answers()) requests[{what.first, what.second}] = count;
    return requests;
  };
  return reporter;
}

Result<std::unique_ptr<reporting::StatusServer>> serve_status(LiveReporter& reporter,
                                                              const std::string& listen,
                                                              const std::string& token_file,
                                                              const ShadowRecorder& shadow) {
  if (listen.empty()) return std::unique_ptr<reporting::StatusServer>();
  const Result<reporting::ListenAddress> address = reporting::parse_listen_address(listen);
  if (!address) return invalid("--listen: " + address.error().message);
  Result<std::string> token = read_token(token_file);
  if (!token) return token.error();
  reporting::StatusServer::Options options;
  options.address = address->address;
  options.port = address->port;
  options.token = *std::move(token);
  options.live = reporter.live_checks();
  options.ready = reporter.ready_checks();
  options.metrics = [&reporter] { return reporter.metrics_text(); };
  options.journal = &reporter.journal();
  options.configuration = reporter.configuration();
  options.shadow = [&shadow] { return shadow.json(); };
  options.now = wall_clock;
  return reporting::StatusServer::start(std::move(options));
}

}  // namespace evenkeel::apps
