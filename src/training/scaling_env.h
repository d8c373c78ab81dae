#pragma once
#include "autoscaling/policies/policy.h"
#include "training/evaluation.h"
#include "training/scaling_experiment.h"

namespace evenkeel::training {

// One world under a policy that outlives it, so that what it learnt there is not lost with the world. All
// services of the plan are scaled by it, one after the other: it must be one that can be asked about each, or
// the plan have one only.
RunResult run_scaling_world(const simulator::ServiceWorldPlan& plan, std::uint64_t seed, const Random& random,
                            autoscaling::ScalingPolicy& policy);

}  // namespace evenkeel::training
