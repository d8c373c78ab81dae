#include "reporting/dashboard_server.h"

namespace evenkeel::reporting {
namespace {

HttpAnswer answer_to(const HttpQuestion& question, const std::string& page) {
  if (question.path == "/") {
    // The page itself says which scripts it may run; a frame can be forbidden by a header only.
    return {.type = "text/html; charset=utf-8",
            .body = page,
            .headers = {{"Content-Security-Policy", "frame-ancestors 'none'"}}};
  }
  if (question.path == "/api/state")
    return {.type = "application/json", .body = question.published ? *question.published : "{}"};
  if (question.path == "/api/events")
    return {.type = "text/event-stream", .body = "", .streams_events = true};
  if (question.path == "/healthz") return {.body = "ok\n"};
  return {.status = 404, .body = "not found\n"};
}

}  // namespace

Result<std::unique_ptr<DashboardServer>> DashboardServer::start(Options options) {
  HttpServer::Options http;
  http.address = options.address;
  http.port = options.port;
  http.name = "the dashboard";
  http.port_advice = "choose another with --port, or --port 0 for any free one";
  if (!options.allow_beyond_loopback) {
    http.loopback_only_because = "the dashboard has no authentication yet, so it listens on loopback only; " +
                                 options.address + " would show the cluster to everyone who can reach it";
  }
  http.max_connections = options.max_connections;
  http.client_timeout = options.client_timeout;
  http.heartbeat = options.heartbeat;
  http.answer = [page = std::move(options.page)](const HttpQuestion& question) {
    return answer_to(question, page);
  };
  Result<std::unique_ptr<HttpServer>> server = HttpServer::start(std::move(http));
  if (!server) return server.error();
  return std::unique_ptr<DashboardServer>(new DashboardServer(*std::move(server)));
}

}  // namespace evenkeel::reporting
