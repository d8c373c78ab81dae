// Small networks and groups that tests are about.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "cluster/cluster_state.h"
#include "cluster/test_objects.h"

namespace evenkeel::scheduling {

// Labels and bandwidths that are empty or 0 are absent.
inline Node placed_node(std::uint32_t slot, const std::string& region, const std::string& zone,
                        std::int64_t bandwidth = 0) {
  Node node = test_node(slot);
  node.name = "n-" + std::to_string(slot + 1);
  if (!region.empty()) node.labels.set(kRegionLabel, region);
  if (!zone.empty()) node.labels.set(kZoneLabel, zone);
  if (bandwidth != 0) node.allocatable.set_extended(kBandwidthResource, bandwidth);
  return node;
}

// n-1 to n-8, two to a zone, two zones to a region.
inline void add_eight_nodes(ClusterState& state) {
  for (std::uint32_t slot = 0; slot < 8; ++slot)
    state.set_node(
        placed_node(slot, slot < 4 ? "us-west-1" : "us-east-1", "Z" + std::to_string(slot / 2 + 1)));
}

// Both ways alike.
struct TestRoute {
  std::string a, b;
  std::int64_t cost = 0;
  std::int64_t capacity = -1;  // none: unlimited
};
inline NetworkTopology topology_of(const std::vector<TestRoute>& regions,
                                   const std::vector<TestRoute>& zones) {
  const auto level = [](std::string_view key, const std::vector<TestRoute>& links) {
    NetworkTopology::Level made{std::string(key), {}};
    const auto add = [&](const std::string& from, const std::string& to, const TestRoute& link) {
      NetworkTopology::Origin* origin = nullptr;
      for (NetworkTopology::Origin& known : made.origins)
        if (known.origin == from) origin = &known;
      if (!origin) origin = &made.origins.emplace_back(NetworkTopology::Origin{from, {}});
      NetworkTopology::Cost cost{to, link.cost, {}, {}};
      if (link.capacity >= 0) cost.capacity = BitsPerSecond{link.capacity};
      origin->costs.push_back(cost);
    };
    for (const TestRoute& link : links) {
      add(link.a, link.b, link);
      add(link.b, link.a, link);
    }
    return made;
  };
  NetworkTopology topology;
  topology.name_space = "default";
  topology.name = "nt-default";
  topology.weights = {{"UserDefined", {level(kRegionLabel, regions), level(kZoneLabel, zones)}}};
  return topology;
}
inline NetworkTopology eight_node_costs() {
  return topology_of({{"us-west-1", "us-east-1", 20}}, {{"Z1", "Z2", 5}, {"Z3", "Z4", 10}});
}

struct TestEdge {
  std::string from, to;
  std::int64_t bandwidth = 0;
  std::int64_t max_cost = -1;  // none given
};
// Workloads are called as their selectors are, and come in the order met.
inline AppGroup group_of(const std::string& name, const std::vector<TestEdge>& edges) {
  AppGroup group;
  group.name_space = "default";
  group.name = name;
  const auto workload = [&](const std::string& selector) {
    for (std::size_t i = 0; i < group.workloads.size(); ++i)
      if (group.workloads[i].workload.selector == selector) return i;
    group.workloads.push_back({{"Deployment", selector, selector, "apps/v1", "default"}, {}});
    return group.workloads.size() - 1;
  };
  for (const TestEdge& edge : edges) {
    const std::size_t from = workload(edge.from), to = workload(edge.to);
    AppDependency dependency;
    dependency.workload = group.workloads[to].workload;
    dependency.min_bandwidth = {edge.bandwidth};
    dependency.limits_cost = edge.max_cost >= 0;
    dependency.max_network_cost = std::max<std::int64_t>(edge.max_cost, 0);
    group.workloads[from].dependencies.push_back(dependency);
  }
  group.members = static_cast<std::int32_t>(group.workloads.size());
  return group;
}

inline std::shared_ptr<const PodTemplate> member_shape(const std::string& group, const std::string& workload,
                                                       PodSpec spec = spec_asking(100, 0),
                                                       const std::string& name_space = "default") {
  Labels labels;
  if (!group.empty()) labels.set(kAppGroupLabel, group);
  if (!workload.empty()) labels.set(kAppWorkloadLabel, workload);
  return std::make_shared<const PodTemplate>(name_space, std::move(labels), std::vector<OwnerReference>{},
                                             WorkloadId{}, std::move(spec));
}

}  // namespace evenkeel::scheduling
