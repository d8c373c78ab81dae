#pragma once
#include <cstdint>
#include <string_view>

#include "cluster/cluster_state.h"
#include "scheduling/filters/filter.h"

namespace evenkeel::scheduling {

// What happened that may turn a filter's no into a yes; a set.
using Changes = std::uint32_t;
enum Change : Changes {
  kNodeAdded = 1U << 0U,
  kNodeRemoved = 1U << 1U,
  kNodeRoom = 1U << 2U,      // allocatable or the number of pods grew
  kNodeLabels = 1U << 3U,    // or its name
  kNodeTaints = 1U << 4U,    // or it was cordoned or no longer is
  kNodeFeatures = 1U << 5U,  // declared ones
  kNodeUse = 1U << 6U,       // what its pods are expected to use
  kPodArrived = 1U << 7U,    // on a node
  kPodLeft = 1U << 8U,       // a node, or the promise of one
  kPodChanged = 1U << 9U,    // on a node: its labels or requests, or it is ending
  kClaimSet = 1U << 10U,
  kVolumeSet = 1U << 11U,
  kStorageClassSet = 1U << 12U,
  kCsiNodeSet = 1U << 13U,
  kCsiDriverSet = 1U << 14U,
  kCapacitySet = 1U << 15U,
  kAttachmentGone = 1U << 16U,
  kNamespaceSet = 1U << 17U,
  kControllerSet = 1U << 18U,  // a Service, ReplicaSet, …: what default spreading selects by
  kVolumeFreed = 1U << 19U,    // promised to a pod that did not get there
  kAppGroupSet = 1U << 20U,
  kNetworkSet = 1U << 21U,  // costs or capacities of links
};

// Filters, by their place in all_filters().
using FilterSet = std::uint32_t;
FilterSet filter_bit(std::string_view plugin);

// When a pod that the filter rejected deserves another look (kube-scheduler's EventsToRegister).
struct QueueingHint {
  Changes here = 0;      // may change what is said of the node where it happens, and of no other
  Changes anywhere = 0;  // may change what is said of any node
};
QueueingHint hint_of(FilterSet filters);

// What of a node changed for the better, or may have.
Changes node_changes(const Node& before, const Node& after);
// What an object that is set, or gone, may change.
Changes object_changes(const ClusterObject& object, bool gone);

// Whether a pod that comes to a node, leaves it or changes there can matter to pods of this kind, rejected by
// those filters, on whatever node. Says yes rather once too often.
bool may_concern(const PodTemplate& waiting, FilterSet rejected_by, const PodTemplate& other);
// The same of an object; the waiting pod's name counts for volumes that are made for it.
bool may_concern(const Pod& waiting, const ClusterObject& object);

}  // namespace evenkeel::scheduling
