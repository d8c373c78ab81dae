#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/time.h"

namespace evenkeel::faults {

// The one clock and the one queue of a simulated world: server, cluster and every process in it live by the
// same order of events, which the seed alone determines.
class VirtualTime {
 public:
  using Work = std::function<void()>;
  using Id = std::uint64_t;  // 0 is never one

  explicit VirtualTime(Time start) : now_(start) {}

  Time now() const { return now_; }
  Id at(Time when, Work work);  // what falls together happens in the order it was asked for
  Id after(Duration delay, Work work) { return at(now_ + delay, std::move(work)); }
  void cancel(Id id);
  // Does the next piece of work due by `limit`; where there is none the clock moves there.
  bool run_next(Time limit);
  void run_until(Time limit) {
    while (run_next(limit)) {
    }
  }
  std::optional<Time> next() const;

 private:
  Time now_;
  Id last_ = 0;
  std::map<std::pair<Time, Id>, Work> queue_;
  std::unordered_map<Id, Time> when_;
};

}  // namespace evenkeel::faults
