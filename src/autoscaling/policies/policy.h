#pragma once
#include "autoscaling/scaling_request.h"
#include "base/random.h"

namespace evenkeel::autoscaling {

// Answers "how many replicas?". One object serves one workload in simulation, training and production; what
// it learns and remembers of that workload it keeps itself.
class ScalingPolicy {
 public:
  virtual ~ScalingPolicy() = default;
  virtual Recommendation recommend(const ScalingRequest& request, Random& random) = 0;
};

}  // namespace evenkeel::autoscaling
