// Who talks to whom: Diktyo's AppGroup (appgroup.diktyo.x-k8s.io/v1alpha1), as read.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"

namespace evenkeel {

using BitsPerSecond = Quantity<struct BitsPerSecondUnit>;

// A pod is a group's by the first label and plays the part that the second one names. Labels, though
// upstream's comments call them annotations.
inline constexpr std::string_view kAppGroupLabel = "appgroup.diktyo.x-k8s.io";
inline constexpr std::string_view kAppWorkloadLabel = "appgroup.diktyo.x-k8s.io.workload";
inline constexpr std::string_view kBandwidthResource = "network.aware.com/bandwidth";  // of a node, in bit/s
inline constexpr std::string_view kRegionLabel = "topology.kubernetes.io/region";
inline constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";

struct WorkloadReference {
  std::string kind, name, selector, api_version, name_space;
  bool operator==(const WorkloadReference&) const = default;
};

// A workload's pods talk to those of `workload`.
struct AppDependency {
  WorkloadReference workload;
  BitsPerSecond min_bandwidth;        // of each pair of pods; 0: none asked for
  std::int64_t max_network_cost = 0;  // absent is 0, as upstream has it
  bool limits_cost = false;           // the field was given
  bool operator==(const AppDependency&) const = default;
};

struct AppWorkload {
  WorkloadReference workload;
  std::vector<AppDependency> dependencies;
  bool operator==(const AppWorkload&) const = default;
};

struct AppGroup {
  std::string name_space, name;
  std::int32_t members = 1;       // spec.numMembers
  std::string sorting_algorithm;  // spec.topologySortingAlgorithm, as spelt
  std::vector<AppWorkload> workloads;
  // status.topologyOrder: selector and index, sorted by selector.
  struct Rank {
    std::string selector;
    std::int32_t index = 0;
    bool operator==(const Rank&) const = default;
  };
  std::vector<Rank> order;
  bool gang = false;  // annotation evenkeel.io/gang: "true": all of its members are placed, or none
  bool operator==(const AppGroup&) const = default;
};

}  // namespace evenkeel
