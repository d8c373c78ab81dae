#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "reporting/decision_journal.h"
#include "reporting/http_server.h"

namespace evenkeel::reporting {

// Something that is well or not, asked from the server's thread. Nothing: well; else what is wrong.
struct HealthCheck {
  std::string name;
  std::function<std::optional<std::string>()> trouble;
};

// How a running scheduler is asked about itself:
//
//   GET /livez /readyz /healthz   200 "ok" or 500 with every check, as Kubernetes components do; ?verbose,
//                                 ?exclude=CHECK, and each check by itself: /readyz/informer-sync
//   GET /metrics                  for Prometheus
//   GET /decisions                the journal as JSON, newest first: ?pod=NS/NAME &node= &outcome= &since=5m
//                                 &limit=100; as lines with ?format=lines
//   GET /decisions/NS/NAME        of one pod
//   GET /shadow                   what learned policies would have changed, as JSON
//   GET /configz                  what it was told to be
//
// Loopback needs no password. Where there is a token, everything but the health checks, which kubelets ask
// without, wants `Authorization: Bearer TOKEN`; without one, any other address shows health and nothing else.
class StatusServer {
 public:
  struct Options {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;
    std::string token{};
    std::vector<HealthCheck> live{}, ready{};
    std::function<std::string()> metrics{};
    const DecisionJournal* journal = nullptr;  // outlives the server
    std::function<std::string()> shadow{};     // JSON
    // Whoever has more to show; nothing: no such page.
    std::function<std::optional<HttpAnswer>(const HttpQuestion&)> pages{};
    std::string configuration = "{}";  // JSON
    std::function<Time()> now{};       // what `since` is counted from
    std::size_t max_connections = 64;
    std::chrono::milliseconds client_timeout{10'000};
  };
  static Result<std::unique_ptr<StatusServer>> start(Options options);

  std::uint16_t port() const { return server_->port(); }
  std::string url() const { return server_->url(); }
  void stop() { server_->stop(); }

 private:
  explicit StatusServer(std::unique_ptr<HttpServer> server) : server_(std::move(server)) {}

  std::unique_ptr<HttpServer> server_;
};

// `[::1]:8080`, `127.0.0.1:8080`, `:8080` and `8080` (both on loopback).
struct ListenAddress {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
};
Result<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace evenkeel::reporting
