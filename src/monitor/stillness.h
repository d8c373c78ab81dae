#pragma once
#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/time.h"

namespace evenkeel::monitor {

// How often something is looked at that may stand still. What moves is looked at with every sample, though
// not more often than `shortest`. What stood still for its whole window is again looked at after a quarter of
// the time for which it has, so what is noticed late was quiet for at least four times as long.
class Stillness {
 public:
  explicit Stillness(std::size_t window, Duration shortest = {}) : window_(window), shortest_(shortest) {}

  // `longest`: no look is later than so long after the one before.
  bool is_due(Duration now, Duration longest) const {
    if (!looked_) return true;
    const Duration quiet = (*looked_ - moved_) / 4;
    return now - *looked_ >= (same_ < window_ ? shortest_ : std::max(shortest_, std::min(longest, quiet)));
  }

  // What a look found; the first is a move.
  void note(bool has_moved, Duration now) {
    if (has_moved || !looked_) {
      moved_ = now;
      same_ = 0;
    } else if (same_ < window_) {
      ++same_;
    }
    looked_ = now;
  }

  void restart() { looked_.reset(); }  // the next look is at something else

 private:
  std::size_t window_, same_ = 0;  // looks since the last move, as far as they matter
  Duration shortest_, moved_{};
  std::optional<Duration> looked_;
};

// Timers are a little late: what is due after a second must not wait for two.
constexpr Duration just_under(Duration time) { return time - time / 20; }

}  // namespace evenkeel::monitor
