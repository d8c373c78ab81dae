#include "reporting/status_server.h"

#include <algorithm>
#include <charconv>

#include "reporting/metrics.h"

namespace evenkeel::reporting {
namespace {

using Options = StatusServer::Options;

constexpr std::string_view kJson = "application/json";

bool has(const HttpPairs& pairs, std::string_view key) {
  return std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first == key; });
}

bool excludes(const HttpPairs& pairs, const std::string& check) {
  return std::find(pairs.begin(), pairs.end(), std::pair<std::string, std::string>{"exclude", check}) !=
         pairs.end();
}

// In the words of k8s.io/apiserver's healthz, which people's scripts look for. Why a check fails is not said
// to whoever may ask without a token; the log has it.
HttpAnswer health(std::string_view name, const std::vector<HealthCheck>& checks,
                  const HttpPairs& parameters) {
  std::string lines;
  bool failed = false;
  for (const HealthCheck& check : checks) {
    if (excludes(parameters, check.name)) {
      lines += "[+]" + check.name + " excluded: ok\n";
    } else if (check.trouble()) {
      lines += "[-]" + check.name + " failed: reason withheld\n";
      failed = true;
    } else {
      lines += "[+]" + check.name + " ok\n";
    }
  }
  if (failed) return {.status = 500, .body = lines + std::string(name) + " check failed\n"};
  if (!has(parameters, "verbose")) return {.body = "ok"};
  return {.body = lines + std::string(name) + " check passed\n"};
}

HttpAnswer one_check(const std::vector<HealthCheck>& checks, std::string_view name) {
  for (const HealthCheck& check : checks) {
    if (check.name != name) continue;
    if (check.trouble()) return {.status = 500, .body = "internal server error: reason withheld\n"};
    return {.body = "ok"};
  }
  return {.status = 404, .body = "no such check\n"};
}

// /livez, /readyz and /healthz, which is the older name of the first.
std::optional<HttpAnswer> health_answer(const Options& options, const HttpQuestion& question) {
  for (const std::string_view name : {"livez", "readyz", "healthz"}) {
    if (!question.path.substr(std::min<std::size_t>(1, question.path.size())).starts_with(name)) continue;
    const auto& checks = name == "readyz" ? options.ready : options.live;
    const std::string_view rest = question.path.substr(1 + name.size());
    if (rest.empty() || rest == "/") return health(name, checks, question.parameters);
    if (rest.starts_with('/')) return one_check(checks, rest.substr(1));
  }
  return std::nullopt;
}

bool is_bearer_of(std::string_view authorization, const std::string& token) {
  constexpr std::string_view kScheme = "Bearer ";
  if (!authorization.starts_with(kScheme)) return false;
  const std::string_view given = authorization.substr(kScheme.size());
  // All of it is compared, so that the time taken does not tell how much was right.
  volatile unsigned char difference = given.size() == token.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i)
    difference = static_cast<unsigned char>(difference | (given[i] ^ token[i % token.size()]));
  return difference == 0;
}

HttpAnswer decisions(const Options& options, HttpPairs parameters) {
  bool lines = false;
  std::erase_if(parameters, [&](const auto& pair) {
    if (pair.first != "format") return false;
    lines = pair.second == "lines";
    return true;
  });
  const Result<DecisionJournal::Query> query =
      journal_query(parameters, options.now ? options.now() : Time{});
  if (!query) return {.status = 400, .body = query.error().message + "\n"};
  std::string body = lines ? "" : "{\"decisions\":[";
  bool is_first = true;
  for (const JournalEntry& entry : options.journal->find(*query)) {
    if (!lines && !is_first) body += ",";
    body += json_of(entry);
    if (lines) body += "\n";
    is_first = false;
  }
  if (!lines) body += "]}\n";
  return {.type = lines ? "application/jsonl" : std::string(kJson), .body = std::move(body)};
}

bool is_loopback(std::string_view address) {
  return address == "localhost" || address == "::1" || address.starts_with("127.");
}

HttpAnswer answer_to(const Options& options, const HttpQuestion& question) {
  if (std::optional<HttpAnswer> answer = health_answer(options, question)) return *std::move(answer);
  if (options.token.empty() && !is_loopback(options.address))
    return {.status = 403, .body = "beyond loopback only with a token: --listen-token-file\n"};
  if (!options.token.empty() && !is_bearer_of(question.authorization, options.token))
    return {.status = 401, .body = "Unauthorized\n", .headers = {{"WWW-Authenticate", "Bearer"}}};
  if (question.path == "/metrics" && options.metrics)
    return {.type = std::string(MetricsRegistry::kContentType), .body = options.metrics()};
  if (question.path == "/configz") return {.type = std::string(kJson), .body = options.configuration + "\n"};
  if (question.path == "/shadow" && options.shadow)
    return {.type = std::string(kJson), .body = options.shadow() + "\n"};
  if (options.pages)
    if (std::optional<HttpAnswer> page = options.pages(question)) return *std::move(page);
  if (options.journal && question.path == "/decisions") return decisions(options, question.parameters);
  constexpr std::string_view kOfOnePod = "/decisions/";
  if (options.journal && question.path.starts_with(kOfOnePod)) {
    HttpPairs parameters = question.parameters;
    parameters.emplace_back("pod", decode_url(question.path.substr(kOfOnePod.size())));
    return decisions(options, std::move(parameters));
  }
  return {.status = 404,
          .body = "not found: /healthz /livez /readyz /metrics /decisions /shadow /configz are\n"};
}

}  // namespace

Result<std::unique_ptr<StatusServer>> StatusServer::start(Options options) {
  HttpServer::Options http;
  http.address = options.address;
  http.port = options.port;
  http.name = "the status server";
  http.port_advice = "choose another with --listen, whose port 0 is any free one";
  // Whoever has to know a token, or gets to see health alone, cannot be led here by another site's name.
  http.any_host = !options.token.empty() || !is_loopback(options.address);
  http.max_connections = options.max_connections;
  http.client_timeout = options.client_timeout;
  http.answer = [options = std::move(options)](const HttpQuestion& question) {
    return answer_to(options, question);
  };
  Result<std::unique_ptr<HttpServer>> server = HttpServer::start(std::move(http));
  if (!server) return server.error();
  return std::unique_ptr<StatusServer>(new StatusServer(*std::move(server)));
}

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const auto refused = [&] {
    return invalid("'" + std::string(text) +
                   "' is no address to listen on: expected ADDRESS:PORT, [::1]:PORT " + "or PORT");
  };
  const std::size_t colon = text.rfind(':');
  const std::string_view port = colon == std::string_view::npos ? text : text.substr(colon + 1);
  std::string_view host = colon == std::string_view::npos ? "" : text.substr(0, colon);
  ListenAddress listen;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), listen.port);
  if (error != std::errc{} || end != port.data() + port.size()) return refused();
  if (host.starts_with('[') != host.ends_with(']')) return refused();
  if (host.starts_with('[')) {
    host = host.substr(1, host.size() - 2);
    if (host.empty()) return refused();
  } else if (host.find(':') != std::string_view::npos) {
    return refused();  // an IPv6 address without brackets: whose colon is it?
  }
  if (!host.empty()) listen.address = host;
  return listen;
}

}  // namespace evenkeel::reporting
