#include "kubernetes/read_network.h"

#include <algorithm>

#include "base/sort_stably.h"
#include "kubernetes/read_common.h"

namespace evenkeel::kubernetes {
namespace {

constexpr std::int64_t kMostCost = std::int64_t{1} << 40;  // sums over all pairs of a group stay exact

std::string or_default(const std::string& name_space) { return name_space.empty() ? "default" : name_space; }

std::optional<BitsPerSecond> read_bandwidth(const JsonField& field) {
  if (!field) return std::nullopt;
  const std::int64_t bits = field.quantity();
  if (bits < 0 || bits > kMostOfAResource)
    field.fail("expected a bandwidth from 0 to " + std::to_string(kMostOfAResource) + " bit/s");
  return BitsPerSecond{std::clamp<std::int64_t>(bits, 0, kMostOfAResource)};
}

WorkloadReference read_workload(const JsonField& field) {
  return {field.required_text_at("kind"), field.required_text_at("name"), field.required_text_at("selector"),
          field.text_at("apiVersion"), field.text_at("namespace")};
}

AppDependency read_dependency(const JsonField& field) {
  AppDependency dependency;
  dependency.workload = read_workload(field.at("workload"));
  dependency.min_bandwidth = read_bandwidth(field.at("minBandwidth")).value_or(BitsPerSecond{});
  dependency.limits_cost = field.has("maxNetworkCost");
  dependency.max_network_cost = field.at("maxNetworkCost").integer(0, kMostCost);
  return dependency;
}

// The field under its right name or, failing that, under the one that upstream's examples use.
JsonField either_at(const JsonField& map, std::string_view name, std::string_view legacy) {
  const JsonField right = map.at(name), old = map.at(legacy);
  if (right && old)
    map.fail_at(legacy,
                "is the old name of " + std::string(name) + ", which is given as well: keep that one");
  return right || !old ? right : old;
}

JsonField required_list(const JsonField& map, std::string_view name, std::string_view legacy) {
  JsonField list = either_at(map, name, legacy);
  if (!list) map.fail_at(name, "expected a list, found nothing");
  return list;
}

NetworkTopology::Cost read_cost(const JsonField& field) {
  NetworkTopology::Cost cost;
  cost.destination = field.required_text_at("destination");
  if (!field.has("networkCost")) field.fail_at("networkCost", "expected a number, found nothing");
  cost.cost = field.at("networkCost").integer(0, kMostCost);
  cost.capacity = read_bandwidth(field.at("bandwidthCapacity"));
  cost.allocated = read_bandwidth(either_at(field, "bandwidthAllocated", "bandwidthAllocatable"));
  return cost;
}

NetworkTopology::Level read_level(const JsonField& field) {
  NetworkTopology::Level level;
  level.topology_key = field.required_text_at("topologyKey");
  for (const JsonField& item : few_items(required_list(field, "originList", "originCosts"))) {
    NetworkTopology::Origin origin{item.required_text_at("origin"), {}};
    for (const JsonField& cost : few_items(required_list(item, "costList", "costs")))
      origin.costs.push_back(read_cost(cost));
    level.origins.push_back(std::move(origin));
  }
  return level;
}

}  // namespace

AppGroup read_app_group(const JsonField& object) {
  const Metadata metadata = read_metadata(object);
  AppGroup group;
  group.name_space = or_default(metadata.name_space);
  group.name = metadata.name;
  group.gang = read_annotation(object, "evenkeel.io/gang") == "true";
  const JsonField spec = object.at("spec");
  group.members = spec.int32_at("numMembers", 1);
  if (group.members < 1) spec.fail_at("numMembers", "expected 1 or more");
  group.sorting_algorithm = spec.text_at("topologySortingAlgorithm");
  for (const JsonField& item : few_items(spec.at("workloads"))) {
    AppWorkload workload{read_workload(item.at("workload")), {}};
    for (const JsonField& dependency : few_items(item.at("dependencies")))
      workload.dependencies.push_back(read_dependency(dependency));
    group.workloads.push_back(std::move(workload));
  }
  for (const JsonField& item : few_items(object.at("status").at("topologyOrder")))
    group.order.push_back({item.at("workload").text_at("selector"), item.int32_at("index")});
  sort_stably(group.order, [](const auto& a, const auto& b) { return a.selector < b.selector; });
  return group;
}

NetworkTopology read_network_topology(const JsonField& object) {
  const Metadata metadata = read_metadata(object);
  NetworkTopology topology;
  topology.name_space = or_default(metadata.name_space);
  topology.name = metadata.name;
  const JsonField spec = object.at("spec");
  topology.config_map = either_at(spec, "configmapName", "configMapName").text();
  for (const JsonField& item : few_items(spec.at("weights"))) {
    NetworkTopology::Weights weights{item.required_text_at("name"), {}};
    for (const JsonField& level : few_items(required_list(item, "topologyList", "costList")))
      weights.levels.push_back(read_level(level));
    topology.weights.push_back(std::move(weights));
  }
  return topology;
}

}  // namespace evenkeel::kubernetes
