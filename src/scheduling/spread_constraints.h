#pragma once
#include <vector>

#include "cluster/cluster_state.h"
#include "scheduling/profile.h"

namespace evenkeel::scheduling {

// A TopologySpreadConstraint with everything filled in.
struct SpreadConstraint {
  std::int32_t max_skew = 1;
  std::string topology_key;
  std::optional<LabelSelector> selector;  // none: no pod is meant
  std::int32_t min_domains = 1;
  bool honor_node_affinity = true, honor_node_taints = false;

  bool means(const Labels& labels) const { return selector && matches(*selector, labels); }
  // Pods of the namespace that are counted; a selector that means every pod counts none, as in
  // kube-scheduler.
  PodQuery query(const std::string& name_space) const;
};

// Of a pod that names none, the profile's defaults with the selector of its Services and its
// controller; none at all if nobody selects it.
std::vector<SpreadConstraint> hard_constraints(const Pod& pod, const ClusterState& cluster,
                                               const Profile& profile);
std::vector<SpreadConstraint> soft_constraints(const Pod& pod, const ClusterState& cluster,
                                               const Profile& profile);

// Whether the constraint counts what is on the node: its nodeAffinityPolicy and nodeTaintsPolicy.
bool includes(const SpreadConstraint& constraint, const PodSpec& spec, const Node& node);

inline constexpr const char* kHostnameLabel = "kubernetes.io/hostname";

}  // namespace evenkeel::scheduling
