#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "base/time.h"

namespace evenkeel::messaging {

// How fast a stream came. Its first quarter is left out: TCP starts slowly, and whoever shapes traffic lets
// the first bytes through at once.
class RateMeter {
 public:
  void add(std::uint64_t bytes, Duration now) {
    total_ += bytes;
    last_ = now;
    if (points_.empty() || total_ >= points_.back().first + kApart) points_.emplace_back(total_, now);
  }
  std::uint64_t bytes() const { return total_; }
  // 0: too few bytes, or too short a time, to tell.
  double bits_per_second() const {
    for (const auto& [bytes, at] : points_) {
      if (bytes * 4 < total_) continue;
      const double seconds = to_seconds(last_ - at);
      return seconds > 0 ? 8 * static_cast<double>(total_ - bytes) / seconds : 0;
    }
    return 0;
  }

 private:
  static constexpr std::uint64_t kApart = 64 * 1024;

  std::uint64_t total_ = 0;
  Duration last_{};
  std::vector<std::pair<std::uint64_t, Duration>> points_;  // bytes by then
};

}  // namespace evenkeel::messaging
