#pragma once
#include <algorithm>

#include "base/time.h"

namespace evenkeel::kubernetes {

// client-go's token bucket: so many requests a second, and so many at once after a rest.
class RateLimit {
 public:
  RateLimit() = default;  // none
  RateLimit(double per_second, int burst)
      : per_request_(per_second > 0 ? 1 / per_second : 0), burst_(std::max(1, burst)) {}

  // How long the request that asks now has to wait; asking is taking one's turn.
  Duration take(Time now) {
    if (per_request_ <= 0) return {};
    // The bucket as the time at which it would be full again.
    full_at_ = std::max(full_at_, now) + from_seconds(per_request_);
    return std::max(Duration::zero(), full_at_ - now - from_seconds(per_request_ * burst_));
  }

 private:
  double per_request_ = 0;  // seconds
  int burst_ = 1;
  Time full_at_{};
};

}  // namespace evenkeel::kubernetes
