// An API server that says what a test tells it to, with a clock that moves when nothing else does.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "kubernetes/api_connection.h"

namespace evenkeel::kubernetes {

class ScriptedConnection : public ApiConnection {
 public:
  struct Sent {
    ApiRequest request;
    Done done;
  };
  // Answers a request at once, in the next turn; without one it stays in `unanswered`.
  std::function<std::optional<ApiAnswer>(const ApiRequest&)> answer;
  std::vector<ApiRequest> requests;  // all of them, streams too
  std::deque<Sent> unanswered;
  std::map<StreamId, std::pair<ApiRequest, StreamHandlers>> streams;

  static ApiAnswer ok(std::string body = "", WireFormat format = WireFormat::json) {
    return {200, format, std::move(body), {}, false};
  }
  static ApiAnswer refusal(int code, std::string reason = "", std::string message = "no") {
    return {code, WireFormat::json, "", {code, std::move(reason), std::move(message), 0}, false};
  }
  static ApiAnswer silence() { return {0, WireFormat::json, "", {0, "", "no answer", 0}, true}; }

  // The oldest request that waits for an answer gets it in the next turn.
  void give(ApiAnswer given) {
    EVENKEEL_CHECK(!unanswered.empty());
    Sent sent = std::move(unanswered.front());
    unanswered.pop_front();
    post([done = std::move(sent.done), given = std::move(given)] { done(given); });
  }
  void post(std::function<void()> work) { ready_.push_back(std::move(work)); }

  Time now() const override { return now_; }
  void call(ApiRequest request, Done done) override {
    requests.push_back(request);
    if (auto given = answer ? answer(request) : std::nullopt)
      return post([done = std::move(done), given = *std::move(given)] { done(given); });
    unanswered.push_back({std::move(request), std::move(done)});
  }
  StreamId stream(const ApiRequest& request, StreamHandlers handlers) override {
    requests.push_back(request);
    streams[++last_id_] = {request, std::move(handlers)};
    return last_id_;
  }
  void cancel(StreamId stream) override { streams.erase(stream); }
  TimerId call_after(Duration delay, std::function<void()> work) override {
    timers_.emplace(std::pair(now_ + delay, ++last_id_), std::move(work));
    return last_id_;
  }
  void cancel_timer(TimerId timer) override {
    std::erase_if(timers_, [&](const auto& entry) { return entry.first.second == timer; });
  }
  bool run_for(Duration time, const std::function<bool()>& done) override {
    const Time end = now_ + time;
    while (!done()) {
      if (!ready_.empty()) {
        const auto work = std::move(ready_.front());
        ready_.pop_front();
        work();
      } else if (!timers_.empty() && timers_.begin()->first.first <= end) {
        now_ = std::max(now_, timers_.begin()->first.first);
        const auto work = std::move(timers_.begin()->second);
        timers_.erase(timers_.begin());
        work();
      } else {
        now_ = end;
        return done();
      }
    }
    return true;
  }
  void run(Duration time) {
    run_for(time, [] { return false; });
  }

 private:
  Time now_{std::chrono::seconds(1'763'280'000)};
  std::deque<std::function<void()>> ready_;
  std::map<std::pair<Time, TimerId>, std::function<void()>> timers_;
  std::uint64_t last_id_ = 0;
};

}  // namespace evenkeel::kubernetes
