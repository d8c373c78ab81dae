#pragma once
#include <cstdint>
#include <functional>
#include <memory>

#include "base/time.h"

namespace boost::asio {
class io_context;
}

namespace evenkeel::kubernetes {

// One thread's turn-taking between connections and timers. Everything in this folder that talks to a server
// runs inside run_for(), so nothing here needs a lock.
class EventLoop {
 public:
  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  Time now() const;         // wall-clock time
  Time steady_now() const;  // never goes back, and is never set

  // Works until `done` says so, asked after each piece of work, or the time is over. Whether `done` said so.
  bool run_for(Duration time, const std::function<bool()>& done);

  // Once, unless cancelled. 0 is never an id.
  using TimerId = std::uint64_t;
  TimerId call_after(Duration delay, std::function<void()> work);
  void cancel(TimerId timer);

  void post(std::function<void()> work);  // from any thread

  boost::asio::io_context& io();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace evenkeel::kubernetes
