#include "scheduling/run_estimates.h"

#include <algorithm>

namespace evenkeel::scheduling {

void RunEstimates::placed(const Pod& pod, Time now) {
  const std::size_t slot = pod.shape->workload.slot;
  if (slot >= under_way_.size()) under_way_.resize(slot + 1);
  if (under_way_[slot].pods++ == 0) under_way_[slot].first = now;
}

void RunEstimates::gone(const Pod& pod) {
  const std::size_t slot = pod.shape->workload.slot;
  if (slot < under_way_.size() && under_way_[slot].pods > 0) --under_way_[slot].pods;
}

RunEstimates::Estimate RunEstimates::of(const Pod& pod, const prediction::WorkloadHistory& history,
                                        Time now) const {
  if (const prediction::Lifetime life = history.lifetime(pod); !life.endless)
    return {life.median_s(), true, false};
  const std::size_t slot = pod.shape->workload.slot;
  if (slot >= under_way_.size() || under_way_[slot].pods == 0) return {0, false, true};
  // Each further pod of an unknown kind is a bet on it being short, at rising odds.
  const UnderWay& under_way = under_way_[slot];
  return {2 * to_seconds(now - under_way.first) * under_way.pods, false, false};
}

}  // namespace evenkeel::scheduling
