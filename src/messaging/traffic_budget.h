#pragma once
#include <algorithm>
#include <mutex>

#include "base/time.h"

namespace evenkeel::messaging {

// A token bucket of bytes, for several threads: over any time t no more than burst + rate * t is spent. Who
// wants to send takes what it will need beforehand, and settles afterwards what it was. Times are of one
// steady clock.
class TrafficBudget {
 public:
  TrafficBudget(double bytes_per_second, double burst)
      : rate_(bytes_per_second), burst_(burst), left_(burst) {}

  double burst() const { return burst_; }

  // Whether there is so much; then it is taken. More than the burst is never there.
  bool take(double bytes, Duration now) {
    const std::lock_guard lock(mutex_);
    refill(now);
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  // What was taken and what became of it. Below nothing it may go: later ones wait for it.
  void settle(double taken, double used) {
    const std::lock_guard lock(mutex_);
    left_ = std::min(burst_, left_ + taken - used);
  }
  // Until so much is there.
  Duration wait_for(double bytes, Duration now) {
    const std::lock_guard lock(mutex_);
    refill(now);
    return bytes <= left_ ? Duration::zero() : from_seconds((std::min(bytes, burst_) - left_) / rate_);
  }

 private:
  void refill(Duration now) {
    left_ = std::min(burst_, left_ + rate_ * std::max(0.0, to_seconds(now - last_)));
    last_ = std::max(last_, now);
  }

  std::mutex mutex_;
  const double rate_, burst_;
  double left_;
  Duration last_{};
};

}  // namespace evenkeel::messaging
