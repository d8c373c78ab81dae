#pragma once
#include "autoscaling/scaling_request.h"
#include "base/random.h"
#include "learning/saved_state.h"

namespace evenkeel::autoscaling {

// Answers "how many replicas?". One object serves one workload in simulation, training and production; what
// it learns and remembers of that workload it keeps itself.
class ScalingPolicy {
 public:
  virtual ~ScalingPolicy() = default;
  virtual Recommendation recommend(const ScalingRequest& request, Random& random) = 0;

  // What it has learnt of its workload, to be put away and taken up again by another object of the same kind;
  // rules have nothing to put away. A state that cannot be its own is refused, and what it knew stays.
  virtual learning::SavedState save() const { return {}; }
  // NOLINTNEXTLINE(performance-unnecessary-value-param): it is read in order, as one's own
  virtual Status restore(learning::SavedState state) { return state.status(); }
};

}  // namespace evenkeel::autoscaling
