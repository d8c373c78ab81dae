#pragma once
#include <memory>

#include "scheduling/policies/online_learning.h"
#include "scheduling/policies/policy.h"
#include "scheduling/policies/tasks.h"

namespace evenkeel::scheduling {

// `…+order`: any policy, with shortest-first and hold-back for the pods that ask for them by label
// (options.order_opt_in) and for nobody else. The queue takes the others first; a pod that has waited for
// options.longest_wait is held back no longer and goes where the inner policy says, so nothing starves.
class OptInOrder final : public PlacementPolicy, public LearnsFromOthers {
 public:
  explicit OptInOrder(std::unique_ptr<PlacementPolicy> inner) : inner_(std::move(inner)) {}

  std::optional<NodeId> choose(const PlacementRequest& request, Random& random) override {
    return policy_for(request).choose(request, random);
  }
  ScoreSheet explain(const PlacementRequest& request) override {
    return policy_for(request).explain(request);
  }
  Time review_at() const override { return inner_->review_at(); }
  std::vector<EvictPod> review(const Retrospect& seen, Random& random) override {
    return inner_->review(seen, random);
  }
  std::vector<LearningFigure> learning() const override { return inner_->learning(); }
  void placed(const PlacementRequest& request, NodeId node) override {
    if (auto* learner = dynamic_cast<LearnsFromOthers*>(inner_.get())) learner->placed(request, node);
  }

 private:
  PlacementPolicy& policy_for(const PlacementRequest& request) {
    const OrderOptIn& asked = request.options.order_opt_in;
    const std::string* label = request.pod.shape->labels.find(asked.label);
    const bool by_run_time = label && *label == asked.value;
    const bool waited_long = request.now - request.pod.created > request.options.longest_wait;
    if (by_run_time && !waited_long) return shortest_first_;
    return *inner_;
  }

  std::unique_ptr<PlacementPolicy> inner_;
  ShortestFirst shortest_first_;
};

}  // namespace evenkeel::scheduling
