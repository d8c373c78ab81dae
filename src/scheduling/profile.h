#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cluster/pod.h"

namespace evenkeel::scheduling {

struct ResourceWeight {
  std::string name;
  std::int64_t weight = 1;
  bool operator==(const ResourceWeight&) const = default;
};

struct UtilizationPoint {
  std::int64_t utilization = 0, score = 0;  // 0..100 and 0..10
  bool operator==(const UtilizationPoint&) const = default;
};

enum class FitStrategy { least_allocated, most_allocated, requested_to_capacity_ratio };

struct ScorePlugin {
  std::string name;
  std::int32_t weight = 1;
  bool operator==(const ScorePlugin&) const = default;
};

// Whose costs count: which NetworkTopology, which of its weights, and where it and AppGroups are looked for
// (arguments of NetworkOverhead, with upstream's defaults).
struct NetworkArguments {
  std::vector<std::string> namespaces{"default"};
  std::string weights = "UserDefined", topology = "nt-default";
  bool given = false;  // the user said so; else the only topology there is will do
  bool operator==(const NetworkArguments&) const = default;
};

// What a profile of a KubeSchedulerConfiguration may set, with the defaults of v1.36.
struct Profile {
  // Plugins whose Filter runs, in the order of their objections, and whose PreFilter does; none: the default
  // profile's.
  std::optional<std::vector<std::string>> filters, pre_filters;
  std::optional<std::vector<ScorePlugin>> scorers;  // none: the default profile's
  bool preemption = true;                           // DefaultPreemption's PostFilter

  // NodeResourcesFitArgs
  FitStrategy fit = FitStrategy::least_allocated;
  std::vector<ResourceWeight> fit_resources = {{"cpu", 1}, {"memory", 1}};
  std::vector<UtilizationPoint> fit_shape;  // requested_to_capacity_ratio
  std::vector<std::string> ignored_resources, ignored_resource_groups;
  // NodeResourcesBalancedAllocationArgs
  std::vector<ResourceWeight> balanced_resources = {{"cpu", 1}, {"memory", 1}};
  // PodTopologySpreadArgs. None: the system's own (hostname 3, zone 5, both soft).
  std::optional<std::vector<TopologySpreadConstraint>> default_spread;
  // InterPodAffinityArgs
  std::int32_t hard_pod_affinity_weight = 1;
  bool ignore_preferred_terms_of_existing_pods = false;
  // NodeAffinityArgs
  std::optional<NodeAffinity> added_affinity;
  // DefaultPreemptionArgs
  std::int32_t min_candidate_nodes_percentage = 10, min_candidate_nodes_absolute = 100;
  NetworkArguments network;
  // TopologicalSort in place of PrioritySort: the namespaces in which AppGroups are looked for. Empty: each
  // in its pods' own.
  std::optional<std::vector<std::string>> topological_sort;
  // VolumeBindingArgs: empty: volumes are not scored.
  std::vector<UtilizationPoint> volume_shape;
  // Of the nodes that would do, how many are looked at; none: all of them. 0: as many as
  // kube-scheduler thinks fit for the cluster's size.
  std::optional<std::int32_t> percentage_of_nodes_to_score;
  bool operator==(const Profile&) const = default;
};

}  // namespace evenkeel::scheduling
