#pragma once
#include <deque>
#include <vector>

#include "scheduling/policies/policy.h"

namespace evenkeel::training {

// Any policy, with DRS's reward (eq. 14) taken five seconds after each of its decisions: rules get rewards
// beside learners, by the same measure. Changes no decision.
class RewardProbe final : public scheduling::PlacementPolicy {
 public:
  explicit RewardProbe(scheduling::PlacementPolicy& inner) : inner_(inner) {}

  std::optional<NodeId> choose(const scheduling::PlacementRequest& request, Random& random) override;
  scheduling::ScoreSheet explain(const scheduling::PlacementRequest& request) override {
    return inner_.explain(request);
  }
  Time review_at() const override;
  std::vector<EvictPod> review(const scheduling::Retrospect& seen, Random& random) override;

  const std::vector<double>& rewards() const { return rewards_; }  // by decision

 private:
  scheduling::PlacementPolicy& inner_;
  std::deque<Time> due_;
  std::vector<double> rewards_;
};

}  // namespace evenkeel::training
