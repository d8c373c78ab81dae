#include "training/network_world.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace evenkeel::training {
namespace {

using scheduling::GroupProblem;
using simulator::NodePlan;
using simulator::PodPlan;
using simulator::WorldPlan;

constexpr std::int64_t kNoLimit = 10'000;  // of maxNetworkCost: no topology is wider

std::string label(const Labels& labels, std::string_view key) {
  const std::string* found = labels.find(key);
  return found ? *found : std::string();
}

template <class T>
const T* first_of(const WorldPlan& plan) {
  for (const ClusterObject& object : plan.objects)
    if (const T* found = std::get_if<T>(&object)) return found;
  return nullptr;
}

// What a topology says of one level, by the names of the two ends.
class Links {
 public:
  Links(const NetworkTopology& topology, std::string_view key) {
    for (const NetworkTopology::Weights& weights : topology.weights)
      for (const NetworkTopology::Level& level : weights.levels)
        if (level.topology_key == key)
          for (const NetworkTopology::Origin& origin : level.origins)
            for (const NetworkTopology::Cost& cost : origin.costs)
              links_.emplace(std::pair(origin.origin, cost.destination), &cost);
  }
  const NetworkTopology::Cost* find(const std::string& from, const std::string& to) const {
    const auto found = links_.find({from, to});
    return found == links_.end() ? nullptr : found->second;
  }
  double dearest() const {
    std::int64_t most = 0;
    for (const auto& [ends, cost] : links_) most = std::max(most, cost->cost);
    return static_cast<double>(most);
  }

 private:
  std::map<std::pair<std::string, std::string>, const NetworkTopology::Cost*> links_;
};

double room_of(const NetworkTopology::Cost* link) {
  return link && link->capacity ? static_cast<double>(link->capacity->count) : GroupProblem::kUnlimited;
}

void add_places(const WorldPlan& plan, GroupProblem& problem) {
  std::map<std::pair<std::string, std::string>, std::uint32_t> zones;  // region, zone
  std::map<std::string, std::uint32_t> regions;
  std::vector<std::pair<std::string, std::string>> places;
  std::vector<std::string> region_names;
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    const Labels& labels = plan.nodes[n].node.labels;
    const std::pair place{label(labels, kRegionLabel), label(labels, kZoneLabel)};
    const auto [region, new_region] = regions.try_emplace(place.first, problem.regions);
    if (new_region) {
      ++problem.regions;
      region_names.push_back(place.first);
    }
    const auto [zone, new_zone] = zones.try_emplace(place, problem.zones);
    if (new_zone) {
      ++problem.zones;
      places.push_back(place);
      problem.region.push_back(region->second);
    }
    problem.nodes[n].zone = zone->second;
  }
  const NetworkTopology none, *given = first_of<NetworkTopology>(plan);
  const NetworkTopology& topology = given ? *given : none;
  const Links between_zones(topology, kZoneLabel), between_regions(topology, kRegionLabel);
  // What nobody measured may be anything: dearer than all that is known.
  const double unknown = std::max(100.0, 10 * std::max(between_zones.dearest(), between_regions.dearest()));
  problem.cost.assign(std::size_t{problem.zones} * problem.zones, 1);
  problem.zone_room.assign(problem.cost.size(), GroupProblem::kUnlimited);
  for (std::uint32_t a = 0; a < problem.zones; ++a)
    for (std::uint32_t b = 0; b < problem.zones; ++b) {
      if (a == b) continue;
      const bool same_region = problem.region[a] == problem.region[b];
      const NetworkTopology::Cost* link = same_region
                                              ? between_zones.find(places[a].second, places[b].second)
                                              : between_regions.find(places[a].first, places[b].first);
      problem.cost[a * problem.zones + b] = link ? static_cast<double>(link->cost) : unknown;
      if (same_region) problem.zone_room[a * problem.zones + b] = room_of(link);
    }
  problem.region_room.assign(std::size_t{problem.regions} * problem.regions, GroupProblem::kUnlimited);
  for (std::uint32_t a = 0; a < problem.regions; ++a)
    for (std::uint32_t b = 0; b < problem.regions; ++b)
      if (a != b)
        problem.region_room[a * problem.regions + b] =
            room_of(between_regions.find(region_names[a], region_names[b]));
}

std::vector<double> amounts(const Resources& resources, double pods) {
  return {static_cast<double>(resources.cpu.count), static_cast<double>(resources.memory.count), pods};
}

void add_nodes(const WorldPlan& plan, GroupProblem& problem) {
  std::map<std::string, std::size_t> by_name;
  for (const NodePlan& planned : plan.nodes) {
    by_name.emplace(planned.node.name, problem.nodes.size());
    GroupProblem::Node& node = problem.nodes.emplace_back();
    node.free = amounts(planned.node.allocatable, static_cast<double>(planned.node.max_pods));
    for (const ExtendedResource& extended : planned.node.allocatable.extended)
      if (extended.name == kBandwidthResource) node.egress = static_cast<double>(extended.count);
  }
  for (const PodPlan& pod : plan.pods) {
    const auto node = by_name.find(pod.shape->spec.node_name);
    if (node == by_name.end()) continue;
    const std::vector<double> taken = amounts(pod.shape->request, 1);
    for (std::size_t r = 0; r < taken.size(); ++r) problem.nodes[node->second].free[r] -= taken[r];
  }
}

using Members = std::map<std::string, std::vector<std::uint32_t>>;  // pods by workload

void add_group(const AppGroup& group, const WorldPlan& plan, NetworkWorld& world) {
  Members members;
  for (std::uint32_t i = 0; i < plan.pods.size(); ++i) {
    const PodTemplate& shape = *plan.pods[i].shape;
    if (shape.name_space != group.name_space || label(shape.labels, kAppGroupLabel) != group.name) continue;
    members[label(shape.labels, kAppWorkloadLabel)].push_back(static_cast<std::uint32_t>(world.plans.size()));
    world.plans.push_back(i);
    world.group.push_back(world.groups);
    world.problem.pods.emplace_back().request = amounts(shape.request, 1);
  }
  for (const auto& [workload, pods] : members)
    for (const PodAffinityTerm& term :
         plan.pods[world.plans[pods.front()]].shape->spec.pod_anti_affinity.required)
      if (pods.size() > 1) world.problem.apart.push_back({pods, term.topology_key == kZoneLabel, {}});
  for (const AppWorkload& workload : group.workloads)
    for (const AppDependency& dependency : workload.dependencies)
      for (const std::uint32_t from : members[workload.workload.selector])
        for (const std::uint32_t to : members[dependency.workload.selector]) {
          GroupProblem::Edge& edge = world.problem.edges.emplace_back(GroupProblem::Edge{from, to});
          edge.bandwidth = static_cast<double>(dependency.min_bandwidth.count);
          if (dependency.limits_cost && dependency.max_network_cost < kNoLimit)
            edge.max_cost = static_cast<double>(dependency.max_network_cost);
        }
  ++world.groups;
}

// Counts what flows and compares it with the room there is.
class Traffic {
 public:
  explicit Traffic(const GroupProblem& problem)
      : problem_(problem),
        zones_(problem.zone_room.size()),
        regions_(problem.region_room.size()),
        egress_(problem.nodes.size()) {}

  void add(double bandwidth, std::uint32_t from, std::uint32_t to) {
    if (from == to) return;
    egress_[from] += bandwidth;
    const std::uint32_t a = problem_.nodes[from].zone, b = problem_.nodes[to].zone;
    if (a == b) return;
    const std::uint32_t ra = problem_.region[a], rb = problem_.region[b];
    if (ra == rb)
      zones_[a * problem_.zones + b] += bandwidth;
    else
      regions_[ra * problem_.regions + rb] += bandwidth;
  }
  std::uint32_t over_booked() const {
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < zones_.size(); ++i) count += too_much(zones_[i], problem_.zone_room[i]);
    for (std::size_t i = 0; i < regions_.size(); ++i) count += too_much(regions_[i], problem_.region_room[i]);
    for (std::size_t i = 0; i < egress_.size(); ++i) count += too_much(egress_[i], problem_.nodes[i].egress);
    return count;
  }

 private:
  static std::uint32_t too_much(double carried, double room) { return carried > room + 0.5 ? 1 : 0; }
  const GroupProblem& problem_;
  std::vector<double> zones_, regions_, egress_;
};

}  // namespace

bool has_network(const WorldPlan& plan) { return first_of<AppGroup>(plan) != nullptr; }

NetworkWorld network_world(const WorldPlan& plan) {
  NetworkWorld world;
  world.unit_ms = plan.cost_unit_ms;
  add_nodes(plan, world.problem);
  add_places(plan, world.problem);
  for (const ClusterObject& object : plan.objects)
    if (const AppGroup* group = std::get_if<AppGroup>(&object)) add_group(*group, plan, world);
  return world;
}

NetworkJudgement judge(const NetworkWorld& world, std::span<const std::uint32_t> node_of) {
  constexpr std::uint32_t kNowhere = GroupProblem::kNowhere;
  const GroupProblem& problem = world.problem;
  NetworkJudgement judgement;
  Traffic traffic(problem);
  for (const GroupProblem::Edge& edge : problem.edges) {
    const std::uint32_t from = node_of[edge.from], to = node_of[edge.to];
    if (from == kNowhere || to == kNowhere) continue;
    judgement.latency_ms += world.unit_ms * edge.weight * problem.distance(from, to);
    traffic.add(edge.bandwidth, from, to);
  }
  judgement.over_booked = traffic.over_booked();
  std::vector<std::uint8_t> whole(world.groups, 1);
  for (std::size_t i = 0; i < node_of.size(); ++i) {
    if (node_of[i] == kNowhere)
      whole[world.group[i]] = 0;
    else
      ++judgement.placed;
  }
  judgement.applications = static_cast<std::uint32_t>(std::count(whole.begin(), whole.end(), 1));
  return judgement;
}

std::vector<std::uint32_t> nodes_of(const NetworkWorld& world, const WorldPlan& plan,
                                    const simulator::SimulatedWorld& run) {
  std::vector<std::uint32_t> by_plan(plan.pods.size(), GroupProblem::kNowhere);
  for (const auto& [pod, node] : run.placed())
    by_plan[static_cast<std::size_t>(pod - plan.pods.data())] = node.slot;
  std::vector<std::uint32_t> nodes;
  for (const std::uint32_t i : world.plans) nodes.push_back(by_plan[i]);
  return nodes;
}

}  // namespace evenkeel::training
