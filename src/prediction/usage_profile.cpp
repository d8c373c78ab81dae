#include "prediction/usage_profile.h"

#include <algorithm>

#include "prediction/regression.h"

namespace evenkeel::prediction {

bool UsageProfile::empty() const {
  return std::all_of(samples_.of.begin(), samples_.of.end(), [](double weight) { return weight <= 0; });
}

void UsageProfile::add(double cpu_allowance, const Usage& usage, const Quality& quality) {
  for (std::size_t d = 0; d < kDimensions; ++d) {
    if (!quality.known[d]) continue;
    shaped_.of[d] += quality.weight;
    const double dx = cpu_allowance - mean_x_.of[d];
    mean_x_.of[d] += dx * quality.weight / shaped_.of[d];
    const double rest_x = cpu_allowance - mean_x_.of[d];
    sum_xx_.of[d] += quality.weight * dx * rest_x;
    sum_xy_.of[d] += quality.weight * rest_x * (usage.of[d] - mean_.of[d]);
  }
  add(usage, quality);
}

void UsageProfile::add(const Usage& usage, const Quality& quality) {
  for (std::size_t d = 0; d < kDimensions; ++d) {
    if (!quality.known[d]) continue;
    samples_.of[d] += quality.weight;
    const double share = quality.weight / samples_.of[d];
    const double dy = usage.of[d] - mean_.of[d];
    mean_.of[d] += dy * share;
    sum_yy_.of[d] += quality.weight * dy * (usage.of[d] - mean_.of[d]);
    if (quality.weight >= 1) peak_.of[d] = std::max(peak_.of[d], usage.of[d]);
  }
}

Demand UsageProfile::predict(double cpu_allowance) const {
  Demand demand;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const double per_xx = 1 / (sum_xx_.of[d] + kSlopeDoubt), dx = cpu_allowance - mean_x_.of[d];
    const double per_sample = samples_.of[d] > 1 ? 1 / samples_.of[d] : 0;
    const double slope = sum_xy_.of[d] * per_xx;
    demand.mean.of[d] = std::max(0.0, mean_.of[d] + slope * dx);
    demand.variance.of[d] = std::max(0.0, sum_yy_.of[d] - slope * sum_xy_.of[d]) * per_sample;
  }
  demand.peak = demand.mean;
  return demand;
}

void UsageProfile::save(WorkloadPast& past) const {
  for (std::size_t d = 0; d < kDimensions; ++d)
    past.use[d] = {samples_.of[d], shaped_.of[d], mean_x_.of[d], mean_.of[d],
                   sum_xx_.of[d],  sum_yy_.of[d], sum_xy_.of[d]};
  past.peak = peak_;
}

void UsageProfile::restore(const WorkloadPast& past) {
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const LineSums& sums = past.use[d];
    samples_.of[d] = sums.weight;
    shaped_.of[d] = sums.shaped;
    mean_x_.of[d] = sums.mean_x;
    mean_.of[d] = sums.mean_y;
    sum_xx_.of[d] = sums.sum_xx;
    sum_yy_.of[d] = sums.sum_yy;
    sum_xy_.of[d] = sums.sum_xy;
  }
  peak_ = past.peak;
}

}  // namespace evenkeel::prediction
