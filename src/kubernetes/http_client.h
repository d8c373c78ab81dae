#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kubernetes/event_loop.h"
#include "kubernetes/http_reader.h"
#include "kubernetes/http_transport.h"

namespace evenkeel::kubernetes {

struct HttpRequest {
  std::string method = "GET";
  std::string target;  // path and query
  std::string accept, content_type, body;
  std::string bearer_token;                     // empty: none
  Duration timeout = std::chrono::seconds(60);  // for all of it; of a stream from one piece to the next
  bool is_urgent = false;                       // goes before others that wait
  std::function<bool()> is_wanted{};  // asked before it is sent; no: it fails with Error::Kind::conflict
};

struct HttpResponse {
  HttpHead head;
  std::string body;
};

// HTTP/1.1 to one server over connections that are kept: many requests at a time, each on a connection of its
// own, those beyond the limit waiting in order. Streams (watches) have connections besides.
class HttpClient {
 public:
  struct Options {
    std::size_t max_connections = 64;
    std::size_t max_body = 1u << 30;
    std::string user_agent = "evenkeel";
  };
  using Done = std::function<void(Result<HttpResponse>)>;

  struct StreamHandlers {
    std::function<void(const HttpHead&)> head;
    std::function<void(std::string_view)> body;
    std::function<void(Status)> end;  // last, and once; not called after cancel()
  };
  using StreamId = std::uint64_t;

  HttpClient(EventLoop& loop, std::unique_ptr<TransportMaker> transports, Options options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  void send(HttpRequest request, Done done);
  StreamId stream(const HttpRequest& request, StreamHandlers handlers);
  void cancel(StreamId stream);

  std::size_t connections() const { return connections_.size(); }

 private:
  class Connection;
  struct Waiting {
    HttpRequest request;
    Done done;
  };

  void start(Connection& connection, Waiting waiting);
  std::optional<Waiting> next_wanted();
  void retire(Connection& connection);     // closed, or to be closed
  void give_back(Connection& connection);  // free for the next request
  std::string serialized(const HttpRequest& request) const;

  EventLoop& loop_;
  std::unique_ptr<TransportMaker> transports_;
  Options options_;
  std::map<std::uint64_t, std::unique_ptr<Connection>> connections_, streams_;
  std::vector<std::uint64_t> idle_;  // the last to be used is the next to be
  std::deque<Waiting> waiting_;
  std::uint64_t last_id_ = 0;
};

}  // namespace evenkeel::kubernetes
