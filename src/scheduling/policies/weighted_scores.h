#pragma once
#include "scheduling/policies/policy.h"
#include "scheduling/scorers/scorer.h"

namespace evenkeel::scheduling {

// kube-scheduler's way: a weighted sum of the plugins' scores. `kube-default` is the
// default profile's sum; `binpack` is MostAllocated alone.
//
// Assumes: requests tell what pods use. That is what makes it the rule to beat.
class WeightedScores final : public PlacementPolicy {
 public:
  WeightedScores() = default;  // the default profile of the version the options ask for
  explicit WeightedScores(std::vector<Scorer> scorers) : scorers_(std::move(scorers)) {}
  std::optional<NodeId> choose(const PlacementRequest& request, Random& random) override;
  ScoreSheet explain(const PlacementRequest& request) override;
  ScoreSheet explain_best(const PlacementRequest& request, std::size_t count, NodeId also) override;
  // Without what a plugin that has nothing to say gives every node alike.
  std::span<const float> scores(const PlacementRequest& request) override;

 private:
  std::span<const Scorer> scorers(const PlacementRequest& request);
  std::vector<Scorer> scorers_, of_profile_;
  void score(const Scorer& scorer, const PlacementRequest& request, Column<float>& part) const;
  Column<float> total_;  // kept between calls: no allocation per pod
};

}  // namespace evenkeel::scheduling
