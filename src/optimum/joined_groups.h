// Several application groups that wait for the same nodes, as one problem.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "scheduling/group_view.h"

namespace evenkeel::optimum {

struct JoinedGroups {
  scheduling::GroupProblem problem;
  std::vector<std::uint32_t> application;  // of each pod: which of the views it came from
  std::vector<PodId> pods;                 // of the problem
  std::vector<NodeId> nodes;               // likewise
};

// The views are of one cluster, with the same options, and name no pod twice. Refused: groups that count
// different resources beside CPU, memory and storage.
Result<JoinedGroups> join_groups(std::span<const scheduling::GroupView> views, const ClusterState& cluster,
                                 const scheduling::SchedulingOptions& options);

}  // namespace evenkeel::optimum
