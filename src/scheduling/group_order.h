#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "cluster/cluster_state.h"

namespace evenkeel::scheduling {

// Where pods of application groups stand in the queue (TopologicalSort): those of one group together, where
// the first of them that waits stood, and among themselves in the order of the group's status.topologyOrder;
// those whose workload is not in it first. Priority goes before all that.
//
// Upstream compares pods of one group by that order alone and all others by priority and time, which is no
// order: a may go before b, b before c and c before a. Where it is one, this is it.
class GroupOrder {
 public:
  struct Standing {
    std::uint64_t anchor = 0;  // of the group: the sequence of its first pod
    std::int32_t rank = 0;
    bool operator==(const Standing&) const = default;
  };
  // `sequence` is the pod's own place, by arrival. AppGroups are looked for in the namespaces; without any,
  // in the pod's own, and only its pods are the group's.
  Standing of(const Pod& pod, const ClusterState& cluster, std::span<const std::string> namespaces,
              std::uint64_t sequence);

 private:
  std::map<std::string, std::uint64_t> anchors_;  // by "namespace/name", or "/name" for every namespace's
};

// The place of a workload in the group's order; -1: none.
std::int32_t rank_in(const AppGroup& group, std::string_view selector);

}  // namespace evenkeel::scheduling
