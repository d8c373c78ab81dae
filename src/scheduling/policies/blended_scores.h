#pragma once
#include <memory>
#include <string>

#include "scheduling/policies/weighted_scores.h"

namespace evenkeel::scheduling {

// A policy as one plugin among kube-scheduler's: its opinion of the feasible nodes, stretched over 0 to 100
// in whole steps, times a weight, is added to what the profile's plugins say.
//
// Assumes: the policy's scores, or its score sheet where it has none, rank nodes as it would choose. A policy
// that would rather wait is not asked.
class BlendedScores final : public PlacementPolicy {
 public:
  BlendedScores(std::string name, double weight, std::unique_ptr<PlacementPolicy> policy)
      : name_(std::move(name)), weight_(weight), policy_(std::move(policy)) {}
  std::optional<NodeId> choose(const PlacementRequest& request, Random& random) override;
  ScoreSheet explain(const PlacementRequest& request) override;
  std::span<const float> scores(const PlacementRequest& request) override;
  SelfCheck self_check() const override { return policy_->self_check(); }
  std::vector<LearningFigure> learning() const override { return policy_->learning(); }
  Time review_at() const override { return policy_->review_at(); }
  std::vector<EvictPod> review(const Retrospect& retrospect, Random& random) override {
    return policy_->review(retrospect, random);
  }

 private:
  std::string name_;
  double weight_;
  std::unique_ptr<PlacementPolicy> policy_;
  WeightedScores plugins_;
  Column<float> total_;
};

}  // namespace evenkeel::scheduling
