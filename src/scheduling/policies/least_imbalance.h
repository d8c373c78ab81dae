#pragma once
#include "scheduling/imbalance.h"
#include "scheduling/policies/policy.h"
#include "scheduling/policies/weighted_scores.h"

namespace evenkeel::scheduling {

// `greedy`: where eq. 13 of DRS is least right after placing.
//
// Assumes that what pods are expected to use now is what matters. Counts pods that no
// sample shows yet by their workload's profile: by metrics alone every pod of a burst
// would go to the node that looked empty.
// Without a fresh sample of any node it decides by kube-default.
class LeastImbalance final : public PlacementPolicy {
 public:
  std::optional<NodeId> choose(const PlacementRequest& request, Random& random) override;
  ScoreSheet explain(const PlacementRequest& request) override;
  std::span<const float> scores(const PlacementRequest& request) override;

 private:
  void rate(const PlacementRequest& request);
  WeightedScores fallback_;
  Column<float> scores_;  // minus the imbalance
};

// Whether load is known at all: a sample of some node not older than options.stale_after.
bool load_is_known(const PlacementRequest& request);

UtilizationField utilization_field(const NodeColumns& columns);
UtilizationField per_unit_field(const NodeColumns& columns);

}  // namespace evenkeel::scheduling
