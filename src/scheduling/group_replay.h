// A plan, tried against every filter: the pods are put where it says one after the other, as they will be.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster_state.h"
#include "prediction/workload_history.h"
#include "scheduling/group_view.h"

namespace evenkeel::scheduling {

struct ReplayedPlan {
  std::vector<std::uint32_t> node_of;           // of the problem's pods: as planned, repaired, or kNowhere
  std::vector<std::optional<NodeId>> places{};  // the same of the waiting pods, for whoever knows no problem
  std::uint32_t repaired = 0;                   // went elsewhere than planned
  std::vector<std::uint32_t> refused;           // pods that a filter kept from where they were planned
  std::string why;                              // of the first that found no place, in kube-scheduler's words
};

// `order`: of the waiting pods. One that a filter refuses goes to the cheapest of the nodes that will do, if
// there is any. The cluster is left as it was.
ReplayedPlan replay_plan(const GroupView& view, const std::vector<std::uint32_t>& node_of,
                         const std::vector<std::uint32_t>& order, const GroupViewInput& input,
                         ClusterState& cluster, Time now);

}  // namespace evenkeel::scheduling
