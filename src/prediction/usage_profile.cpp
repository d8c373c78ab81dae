#include "prediction/usage_profile.h"

#include <algorithm>

#include "prediction/regression.h"

namespace evenkeel::prediction {

void UsageProfile::add(double cpu_allowance, const Usage& usage) {
  shaped_ += 1;
  const double dx = cpu_allowance - mean_x_;
  mean_x_ += dx / shaped_;
  const double rest_x = cpu_allowance - mean_x_;
  sum_xx_ += dx * rest_x;
  for (std::size_t d = 0; d < kDimensions; ++d) sum_xy_.of[d] += rest_x * (usage.of[d] - mean_.of[d]);
  add(usage);
}

void UsageProfile::add(const Usage& usage) {
  samples_ += 1;
  const double share = 1 / samples_;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const double dy = usage.of[d] - mean_.of[d];
    mean_.of[d] += dy * share;
    sum_yy_.of[d] += dy * (usage.of[d] - mean_.of[d]);
    peak_.of[d] = std::max(peak_.of[d], usage.of[d]);
  }
}

Demand UsageProfile::predict(double cpu_allowance) const {
  Demand demand;
  const double per_xx = 1 / (sum_xx_ + kSlopeDoubt), dx = cpu_allowance - mean_x_;
  const double per_sample = samples_ > 1 ? 1 / samples_ : 0;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const double slope = sum_xy_.of[d] * per_xx;
    demand.mean.of[d] = std::max(0.0, mean_.of[d] + slope * dx);
    demand.variance.of[d] = std::max(0.0, sum_yy_.of[d] - slope * sum_xy_.of[d]) * per_sample;
  }
  demand.peak = demand.mean;
  return demand;
}

}  // namespace evenkeel::prediction
