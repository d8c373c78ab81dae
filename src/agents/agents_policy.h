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
  // Where agents decided, or are about to, a row per node that would do: terms "accepts" and "score". Where
  // the rule did, the rule's own rows. The note says who decided and why.
  scheduling::ScoreSheet explain(const scheduling::PlacementRequest& request) override;
  scheduling::SelfCheck self_check() const override;  // `waits` after a choice that is still being gathered
  Time review_at() const override;                    // when the desk or the rule wants to be asked again
  std::vector<EvictPod> review(const scheduling::Retrospect& seen, Random& random) override;

 private:
  enum class Decider { nobody_yet, agents, rule, plan };
  struct Last {
    PodId pod;
    Time at{};
    Decider decider = Decider::plan;
    std::string why;
  };
  scheduling::ScoreSheet agents_sheet(const scheduling::PlacementRequest& request) const;

  BidDesk& desk_;
  std::unique_ptr<scheduling::PlacementPolicy> rule_;
  Last last_;
};

// Mean network cost from each node to the placed pods that the pod talks to; empty: it talks to nobody.
std::vector<float> delays_of(const scheduling::PlacementRequest& request);

}  // namespace evenkeel::agents
