#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "reporting/http_query.h"

namespace evenkeel::reporting {

struct HttpQuestion {
  std::string_view path;                           // as it was sent
  HttpPairs parameters;                            // of the query, decoded
  std::string_view authorization;                  // the header's value
  std::shared_ptr<const std::string> published{};  // what was published last; null: nothing yet
};

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body{};
  HttpPairs headers{};
  bool streams_events = false;  // instead of the body: what is published, as Server-Sent Events
};

// A small HTTP/1.1 server that answers GET and HEAD, in one thread of its own. Everything is bounded:
// connections, the size of a request, the time it may take to arrive and the time its answer may take to be
// read. Requests whose Host is not this server are refused (a web site could otherwise reach it by DNS
// rebinding), unless told otherwise.
//
// Who reads an event stream and cannot keep up skips what is published instead of having it queued, and is
// dropped when it stops reading.
class HttpServer {
 public:
  struct Options {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;  // 0: any free one
    std::string name = "the server";
    std::string loopback_only_because{};  // empty: any address will do
    std::string port_advice{};            // what to do about a port that is taken
    bool any_host = false;
    std::size_t max_connections = 256;
    std::chrono::milliseconds client_timeout{10'000};  // for a request to arrive, for a client to read on
    std::chrono::milliseconds heartbeat{15'000};  // keeps an idle event stream open, and notices a lost one
    // From the server's thread. Whoever takes long keeps the other clients waiting, and nobody else.
    std::function<HttpAnswer(const HttpQuestion&)> answer{};
  };

  // Error::Kind::invalid for an address that may not be used, unavailable for a port that cannot be had.
  static Result<std::unique_ptr<HttpServer>> start(Options options);

  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  std::string url() const;

  // To event streams, and to those that open later: the latest. Thread-safe; never waits for a client. Must
  // not contain a line break.
  void publish(std::string event);

  // Sends what was published last to those who still want it, closes everything and joins; a fraction of a
  // second at most.
  void stop();

 private:
  struct Service;
  explicit HttpServer(std::unique_ptr<Service> service);

  std::unique_ptr<Service> service_;
};

}  // namespace evenkeel::reporting
