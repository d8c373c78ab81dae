#pragma once
#include <limits>

#include "scheduling/policies/policy.h"

namespace evenkeel::scheduling {

// Any feasible node, each equally likely.
class RandomChoice final : public PlacementPolicy {
 public:
  std::optional<NodeId> choose(const PlacementRequest& request, Random& random) override;
  ScoreSheet explain(const PlacementRequest& request) override;
};

// The next feasible node after the last one used, in the order in which nodes joined.
class RoundRobin final : public PlacementPolicy {
 public:
  std::optional<NodeId> choose(const PlacementRequest& request, Random& random) override;
  ScoreSheet explain(const PlacementRequest& request) override;

 private:
  std::uint32_t next(const PlacementRequest& request) const;
  std::uint32_t next_slot_ = 0;
};

// Follows a plan made beforehand by somebody who saw the future: the references.
// A pod whose planned node does not fit goes where the default rule would send it.
class PlannedPlacement final : public PlacementPolicy {
 public:
  static constexpr NodeId kNowhere{std::numeric_limits<std::uint32_t>::max()};  // planned to wait
  // plan[i] is the node of the i-th pod ever asked about, in the order of creation.
  explicit PlannedPlacement(std::vector<std::pair<std::string, NodeId>> plan);
  std::optional<NodeId> choose(const PlacementRequest& request, Random& random) override;
  ScoreSheet explain(const PlacementRequest& request) override;

 private:
  const NodeId* find(const PlacementRequest& request) const;
  const NodeId* planned(const PlacementRequest& request) const;
  std::vector<std::pair<std::string, NodeId>> plan_;  // sorted by pod name
  std::unique_ptr<PlacementPolicy> otherwise_;
};

}  // namespace evenkeel::scheduling
