#pragma once
#include <optional>

#include "base/result.h"
#include "learning/cached_scorer.h"
#include "scheduling/policies/evenkeel_encoding.h"
#include "scheduling/policies/input_check.h"
#include "scheduling/policies/policy.h"

namespace evenkeel::scheduling {

// `evenkeel`: `horizon`, and what was learnt about where it errs. A small network, the same for every node,
// adds to horizon's score what placing there turned out to cost or save in the time after, in worlds played
// out with every choice (training/counterfactual.h): what comes next, and how it will be placed, is in there
// by experience.
//
// Assumes that the cluster moves like the worlds it was trained on; what it may change is bounded, since
// features are and since a node that horizon finds far worse stays behind. Without a model it is `horizon`,
// without a fresh sample of any node kube-default.
class Evenkeel final : public PlacementPolicy, public ShowsInputs {
 public:
  // Refuses, by name, a model of another encoding or shape.
  static Result<std::unique_ptr<PlacementPolicy>> make(const learning::Model* model);
  explicit Evenkeel(const learning::SharedScorer& scorer) : scorer_(scorer) {}

  std::optional<NodeId> choose(const PlacementRequest& request, Random& random) override;
  ScoreSheet explain(const PlacementRequest& request) override;
  std::span<const float> scores(const PlacementRequest& request) override;
  SelfCheck self_check() const override { return check_.found(); }
  InputCheck& inputs() override { return check_; }

  // For training: the question as the network sees it, and what it is added to. A column per feasible node.
  struct Encoded {
    std::vector<float> item, summary;
    std::vector<NodeId> nodes;
    std::vector<float> features;  // kNode for each of them
    std::vector<float> base;      // horizon's score in the network's units
  };
  static Encoded encode(const PlacementRequest& request, Horizon& horizon, EvenkeelEncoding& encoding);

 private:
  void rate(const PlacementRequest& request);
  void look_at_inputs(const PlacementRequest& request, std::span<const float> item,
                      std::span<const float> summary, float highest);

  Horizon rule_;
  EvenkeelEncoding encoding_;
  learning::CachedScorer scorer_;
  std::vector<float> learned_, scores_, sample_;
  std::vector<std::uint8_t> wanted_, within_;
  InputCheck check_;
};

// The network's unit is kBaseUnit of one node's share of imbalance: horizon's score times the nodes over it.
inline constexpr float kBasePerNode = 75;

}  // namespace evenkeel::scheduling
