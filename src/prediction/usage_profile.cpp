#include "prediction/usage_profile.h"

#include <algorithm>

namespace evenkeel::prediction {

void UsageProfile::add(double cpu_allowance, const Usage& usage, Time /*at*/) {
  for (std::size_t d = 0; d < kDimensions; ++d) lines_[d].add(cpu_allowance, usage.of[d]);
}

Demand UsageProfile::predict(double cpu_allowance) const {
  Demand demand;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    demand.mean.of[d] = std::max(0.0, lines_[d].predict(cpu_allowance));
    demand.variance.of[d] = lines_[d].residual_variance();
  }
  return demand;
}

}  // namespace evenkeel::prediction
