#pragma once
#include <memory>

#include "agents/bid_desk.h"
#include "scheduling/policies/policy.h"

namespace evenkeel::agents {

// Answers "which node?" by asking the nodes' agents, and by a rule where none of them will have the pod, none
// answers, or none is there. A pod whose group has planned its place goes there unasked.
// Assumes that its desk is told of awards by whoever sees decisions carried out.
class AgentsPolicy final : public scheduling::PlacementPolicy {
 public:
  AgentsPolicy(BidDesk& desk, std::unique_ptr<scheduling::PlacementPolicy> rule);

  std::optional<NodeId> choose(const scheduling::PlacementRequest& request, Random& random) override;
  // A row per node that would do: terms "accepts" and "score"; the note says who decided and why.
  scheduling::ScoreSheet explain(const scheduling::PlacementRequest& request) override;
  scheduling::SelfCheck self_check() const override;  // `waits` after a choice that is still being gathered
  Time review_at() const override;                    // when the desk wants to be asked again

 private:
  BidDesk& desk_;
  std::unique_ptr<scheduling::PlacementPolicy> rule_;
};

}  // namespace evenkeel::agents
