#pragma once
#include <map>
#include <string>
#include <vector>

#include "apps/offline_cluster.h"

namespace evenkeel::apps {

// What becomes of a pod whose group is planned as a whole.
struct PlannedPod {
  std::optional<NodeId> node{};
  std::string note{};  // why there and not where its own score is highest; or why nowhere
};

// The group of the pod at hand with all of its members that wait, `order` saying who, each with the place
// that the whole does best with. Empty: the pod is of no group, or waits alone.
std::map<PodId, PlannedPod> plan_group_of(PodId pod, const std::vector<PodId>& order, OfflineCluster& cluster,
                                          const scheduling::SchedulingOptions& options);

// A member of a group goes where the whole does best, as long as that will still do.
void follow_plan(const PlannedPod& planned, scheduling::Decision& decision);

}  // namespace evenkeel::apps
