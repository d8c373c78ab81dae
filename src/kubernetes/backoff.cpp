#include "kubernetes/backoff.h"

#include <algorithm>

namespace evenkeel::kubernetes {

Duration Backoff::next(Random& random) {
  const Duration base = current_;
  current_ = std::min(options_.most, 2 * current_);
  return base + from_seconds(random.between(0, to_seconds(base)));
}

}  // namespace evenkeel::kubernetes
