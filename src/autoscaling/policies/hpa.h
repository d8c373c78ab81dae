#pragma once
#include "autoscaling/policies/policy.h"
#include "autoscaling/replica_calculator.h"

namespace evenkeel::autoscaling {

// The rule of Kubernetes' horizontal pod autoscaler (autoscaling/v2, 1.36): so many replicas that each metric
// comes to its target, in proportion. Stabilisation, limits and bounds are laid over it as over every policy.
//
// Assumes: load spreads evenly over the replicas, and what a replica uses grows with its load.
// Source: pkg/controller/podautoscaler/replica_calculator.go. Deviations: docs/algorithms/hpa.md.
class Hpa final : public ScalingPolicy {
 public:
  explicit Hpa(CalculatorOptions options = {}) : options_(options) {}
  Recommendation recommend(const ScalingRequest& request, Random& random) override;

 private:
  CalculatorOptions options_;
};

}  // namespace evenkeel::autoscaling
