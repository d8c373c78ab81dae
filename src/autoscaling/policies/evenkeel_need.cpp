#include "autoscaling/policies/evenkeel_need.h"

#include <algorithm>

namespace evenkeel::autoscaling {
namespace {

// The fewest of 1 … most for which `enough` holds, given that more always are enough as well.
template <class Enough>
std::int32_t fewest(std::int32_t most, const Enough& enough) {
  std::int32_t low = 1, high = most;
  while (low < high) {
    const std::int32_t middle = low + (high - low) / 2;
    if (enough(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace

double LevelModel::chance(double requests_per_s, std::int32_t pods) const {
  const double capacity = per_pod * pods;
  return curve.chance_above({(requests_per_s + backlog_per_s) / capacity, static_cast<double>(pods), per_pod},
                            bound_s);
}

double LevelModel::chance(const prediction::RateOutlook& outlook, std::int32_t pods, double factor) const {
  double sum = 0;
  for (std::size_t i = 0; i < outlook.rates.size(); ++i)
    sum += prediction::RateOutlook::kShares[i] * chance(factor * outlook.rates[i], pods);
  return sum;
}

std::int32_t LevelModel::least(const prediction::RateOutlook& outlook, double risk, double factor) const {
  return fewest(most, [&](std::int32_t pods) { return chance(outlook, pods, factor) <= risk; });
}

Needs needs_of(const LevelModel& model, const Outlooks& outlooks) {
  Needs needs;
  for (std::size_t i = 0; i < kRisks.size(); ++i) {
    needs.ahead[i] = model.least(outlooks.ahead, kRisks[i]);
    for (std::size_t b = 0; b < kBands.size(); ++b)
      needs.keep[b][i] = std::max(model.least(outlooks.soon, kRisks[i], 1 + kBands[b]),
                                  model.least(outlooks.ahead, kRisks[i], 1 + kBands[b]));
  }
  return needs;
}

}  // namespace evenkeel::autoscaling
