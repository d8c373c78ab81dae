#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "reporting/http_server.h"

namespace evenkeel::reporting {

// Serves the dashboard page and the state it shows over HTTP/1.1, from one thread of its own.
//
//   GET /            the page                          GET /api/state   the latest state
//   GET /healthz     "ok"                              GET /api/events  every new state, as Server-Sent
//   Events
//
// Nobody is authenticated: hence loopback only, unless told otherwise.
class DashboardServer {
 public:
  struct Options {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;              // 0: any free one
    bool allow_beyond_loopback = false;  // whoever can reach the address can then read the state
    std::string page{};                  // the HTML of GET /
    std::size_t max_connections = 256;
    std::chrono::milliseconds client_timeout{10'000};  // for a request to arrive, for a client to read on
    std::chrono::milliseconds heartbeat{15'000};  // keeps an idle event stream open, and notices a lost one
  };

  // Error::Kind::invalid for an address that may not be used, unavailable for a port that cannot be had.
  static Result<std::unique_ptr<DashboardServer>> start(Options options);

  std::uint16_t port() const { return server_->port(); }
  std::string url() const { return server_->url(); }

  // Thread-safe; never waits for a client. `json` must not contain a line break.
  void publish(std::string json) { server_->publish(std::move(json)); }

  // Sends the last state to those who still want it, closes everything and joins; a fraction of a second at
  // most.
  void stop() { server_->stop(); }

 private:
  explicit DashboardServer(std::unique_ptr<HttpServer> server) : server_(std::move(server)) {}

  std::unique_ptr<HttpServer> server_;
};

}  // namespace evenkeel::reporting
