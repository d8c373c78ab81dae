#pragma once
#include <string>

#include "cluster/cluster_state.h"
#include "reporting/network_picture.h"
#include "scheduling/profile.h"

namespace evenkeel::apps {

// Every application group of the cluster, its pods where they are, and each pair that talks with what that
// costs. Pods of no group are not drawn.
reporting::NetworkPicture picture_of(const ClusterState& cluster,
                                     const scheduling::NetworkArguments& arguments);

}  // namespace evenkeel::apps
