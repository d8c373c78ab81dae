#pragma once
#include <string>

#include "cluster/cluster_state.h"
#include "scheduling/options.h"

namespace evenkeel::scheduling {

// Why this pod must not be moved, in words for people; empty: it may be. What a platform engineer would check
// before deleting a pod by hand: that somebody makes a new one, that nothing is lost with it, that enough of
// its kind go on serving, and that nobody asked to leave it alone.
std::string why_not_move(const PodRecord& record, const ClusterState& cluster, const MoveRules& rules);

}  // namespace evenkeel::scheduling
