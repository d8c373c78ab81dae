#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "kubernetes/wire_objects.h"

namespace evenkeel::kubernetes {

struct ApiRequest {
  std::string method = "GET";
  std::string path;  // with its query
  std::string content_type, body;
  WireFormat accept = WireFormat::json;
  Duration timeout = std::chrono::seconds(60);
  bool waits_its_turn = true;  // false: 429 and 503 are answers, not reasons to try again
  bool is_urgent = false;      // goes before what waits for a connection
  // Asked when it is about to be sent, which may be long after it was asked for. No: it is answered with code
  // 0, and certainly was not done.
  std::function<bool()> is_wanted{};
};

struct ApiAnswer {
  int code = 0;  // 0: there was none
  WireFormat format = WireFormat::json;
  std::string body;  // of a 2xx
  ApiStatus status;  // of anything else; its message says what went wrong where there was no answer
  // A write that got no answer: it may have been done or not. Look before you repeat it.
  bool is_uncertain = false;

  bool ok() const { return code >= 200 && code < 300; }
  Error error() const;  // of one that is not ok: 404, 409 and what may be tried again are told apart
};

// One process's line to an API server: requests, streams and timers, in one thread's turns. An ApiClient over
// the network, or a simulated server with a clock of its own, under which everything built on this runs
// unchanged. Handlers are called from within run_for() and nowhere else.
class ApiConnection {
 public:
  using Done = std::function<void(ApiAnswer)>;
  // Of one try, its body as it comes. An answer that is not 2xx ends as one piece with its status.
  struct StreamHandlers {
    std::function<void(WireFormat)> opened;
    std::function<void(std::string_view)> body;
    std::function<void(const ApiStatus&)> refused;  // instead of body and end; code 0: no answer
    std::function<void()> end;
  };
  using StreamId = std::uint64_t;  // 0 is never one
  using TimerId = std::uint64_t;   // likewise

  virtual ~ApiConnection() = default;

  virtual Time now() const = 0;  // wall-clock time
  // A clock that nobody sets, for whoever must not be fooled by one that is; its zero means nothing.
  virtual Time steady_now() const { return now(); }
  virtual void call(ApiRequest request, Done done) = 0;
  virtual StreamId stream(const ApiRequest& request, StreamHandlers handlers) = 0;
  virtual void cancel(StreamId stream) = 0;
  // Once, unless cancelled.
  virtual TimerId call_after(Duration delay, std::function<void()> work) = 0;
  virtual void cancel_timer(TimerId timer) = 0;
  // Works until `done` says so, asked after each piece of work, or the time is over. Whether `done` said so.
  virtual bool run_for(Duration time, const std::function<bool()>& done) = 0;

  // call() and wait for it: for programs that do one thing after the other.
  ApiAnswer call_now(ApiRequest request);
};

}  // namespace evenkeel::kubernetes
