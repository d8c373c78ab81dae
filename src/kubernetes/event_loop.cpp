#include "kubernetes/event_loop.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <utility>

namespace evenkeel::kubernetes {

namespace asio = boost::asio;

struct EventLoop::State {
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> stays_open{io.get_executor()};
  std::map<TimerId, asio::steady_timer> timers;
  TimerId last_timer = 0;
};

EventLoop::EventLoop() : state_(std::make_unique<State>()) {}
EventLoop::~EventLoop() = default;

Time EventLoop::now() const {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return Time(std::chrono::duration_cast<Duration>(since));
}

Time EventLoop::steady_now() const {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return Time(std::chrono::duration_cast<Duration>(since));
}

bool EventLoop::run_for(Duration time, const std::function<bool()>& done) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  while (!done()) {
    if (std::chrono::steady_clock::now() >= deadline) {
      // What is ready already costs no waiting: a time of zero asks for just that.
      if (state_->io.poll_one() == 0) return done();
      continue;
    }
    state_->io.run_one_until(deadline);
  }
  return true;
}

EventLoop::TimerId EventLoop::call_after(Duration delay, std::function<void()> work) {
  const TimerId id = ++state_->last_timer;
  const auto place = state_->timers.emplace(id, state_->io).first;
  place->second.expires_after(delay);
  place->second.async_wait(
      [state = state_.get(), id, work = std::move(work)](const boost::system::error_code& error) {
        if (error) return;  // cancelled
        // It may have run out in the very turn in which it was cancelled.
        if (state->timers.erase(id) != 0) work();
      });
  return id;
}

void EventLoop::cancel(TimerId timer) { state_->timers.erase(timer); }

void EventLoop::post(std::function<void()> work) { asio::post(state_->io, std::move(work)); }

asio::io_context& EventLoop::io() { return state_->io; }

}  // namespace evenkeel::kubernetes
