#pragma once
#include <optional>
#include <string>
#include <vector>

#include "scheduling/filters/filter.h"
#include "scheduling/nominations.h"

namespace evenkeel::scheduling {

// Whether the node will do both with the pods nominated to it that are no less important and
// without them; as in kube-scheduler, what is said of the first is what is reported. The cluster is left as
// it was found.
NodeVerdict judge_with_nominated(const FilterInput& input, ClusterState& cluster, NodeId node,
                                 std::span<const Nomination> nominations);

struct Victims {
  NodeId node;
  std::vector<PodId> pods;  // the most important first
  std::size_t budget_violations = 0;
};

struct PreemptionOutcome {
  std::optional<Victims> victims;
  std::string message;  // why nobody is preempted: "preemption: 0/3 nodes are available: …"
};

// DefaultPreemption: which pods of lower priority to end, and where, so that the pod fits. Looks at
// nodes where ending pods may help; spares whom it can, those protected by a budget first; then
// picks the node by the fewest budget violations, the least important of the most important victims,
// the lowest sum of priorities, the fewest victims, the latest start. Ties go to the first node.
PreemptionOutcome preempt(const FilterInput& input, ClusterState& cluster, const Nominations& nominations,
                          Time now);
PreemptionOutcome preempt(const FilterInput& input, ClusterState& cluster,
                          std::span<const Nomination> nominations, Time now);

}  // namespace evenkeel::scheduling
