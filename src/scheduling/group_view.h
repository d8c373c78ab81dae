// A group's pods and the cluster they wait in, as the problem that the planner searches.
//
// Where a pod may be at all is what its filters say of the cluster as it is, mates that wait not counted. Of
// the rules between mates, required anti-affinity by hostname or zone becomes part of the problem; whatever
// else they ask of each other is for whoever replays the plan against the filters.
#pragma once
#include <vector>

#include "cluster/cluster_state.h"
#include "prediction/workload_history.h"
#include "scheduling/group_problem.h"
#include "scheduling/nominations.h"
#include "scheduling/options.h"

namespace evenkeel::scheduling {

struct GroupView {
  GroupProblem problem;
  std::vector<PodId> pods;    // of the problem: those that wait, then those that are placed
  std::vector<NodeId> nodes;  // likewise
};

struct GroupViewInput {
  const ClusterState& cluster;
  const prediction::WorkloadHistory& history;
  const SchedulingOptions& options;
  const Nominations& nominations;  // places that others wait for
  const AppGroup& group;
  std::vector<PodId> waiting;  // to be planned
};
GroupView view_group(const GroupViewInput& input);

}  // namespace evenkeel::scheduling
