#include "scheduling/network_overhead.h"

#include <algorithm>
#include <map>

namespace evenkeel::scheduling {

NetworkOverhead::NetworkOverhead(const Pod& pod, const ClusterState& cluster,
                                 const NetworkArguments& arguments)
    : pod_(pod), cluster_(cluster), view_(view_network(cluster, arguments)) {
  if (pod.shape->app_group.empty()) return;
  const AppGroup* group = find_group(cluster.objects(), arguments);
  if (!group) {
    missing_ = "no AppGroup '" + pod.shape->app_group + "' in the configured namespaces";
    return;
  }
  missing_ = view_.links.missing();
  if (!view_.links.found()) return;
  find_peers(*group);
  if (equal_) return;
  of_place_.assign(view_.places.count(), {});
  for (Place place = 0; place < of_place_.size(); ++place) weigh_place(place);
}

const AppGroup* NetworkOverhead::find_group(const ObjectStore& objects,
                                            const NetworkArguments& arguments) const {
  for (const std::string& name_space : arguments.namespaces)
    if (const AppGroup* found = objects.app_group(name_space, pod_.shape->app_group)) return found;
  // Nobody said where to look.
  return arguments.given ? nullptr : objects.app_group(pod_.shape->name_space, pod_.shape->app_group);
}

void NetworkOverhead::find_peers(const AppGroup& group) {
  // Limits of the dependencies on each workload: one that is listed twice counts twice.
  std::map<std::string_view, std::vector<std::int64_t>> limits;
  for (const AppWorkload& workload : group.workloads) {
    if (workload.workload.selector != pod_.shape->app_workload) continue;
    for (const AppDependency& dependency : workload.dependencies)
      limits[dependency.workload.selector].push_back(dependency.max_network_cost);
  }
  if (limits.empty()) return;
  std::map<std::pair<Place, std::int64_t>, std::int64_t> by_place;
  std::map<std::uint32_t, std::int64_t> by_node;
  for (const auto& [name_space, members] : cluster_.groups().everywhere(pod_.shape->app_group))
    for (const PodId id : members) {
      const PodRecord* record = cluster_.pod(id);
      if (!record || record->place == PodPlace::pending || !cluster_.has_node(record->node)) continue;
      equal_ = false;
      const auto dependencies = limits.find(record->pod.shape->app_workload);
      if (dependencies == limits.end()) continue;
      for (const std::int64_t limit : dependencies->second) {
        ++by_place[{view_.places.of(record->node), limit}];
        ++by_node[record->node.slot];
      }
    }
  for (const auto& [key, pods] : by_place) peers_.push_back({key.first, key.second, pods});
  for (const auto& [node, pods] : by_node) on_node_.push_back({node, pods});
}

// Upstream keeps the costs from a node's region and from its zone in one map: where both are called the same,
// the zone's come second and count.
std::optional<std::int64_t> NetworkOverhead::listed_cost(const NetworkPlaces::Where& from,
                                                         const NetworkPlaces::Where& to) const {
  const bool is_near = from.region == to.region;
  const std::uint32_t origin = is_near ? from.zone : from.region, target = is_near ? to.zone : to.region;
  const LinkCosts::Link* link = origin == from.zone ? view_.links.between_zones(origin, target) : nullptr;
  if (!link && origin == from.region) link = view_.links.between_regions(origin, target);
  return link ? std::optional(link->cost) : std::nullopt;
}

// For nodes of the place that hold none of the pods.
void NetworkOverhead::weigh_place(Place place) {
  Count& here = of_place_[place];
  for (const Peers& peers : peers_) {
    if (peers.place == 0) {  // nobody knows where they are
      here.violated += peers.pods;
      here.cost += peers.pods * kMaxCost;
    } else if (peers.place == place) {
      here.satisfied += peers.pods;
      here.cost += peers.pods * kSameZone;
    } else {
      const auto cost = listed_cost(view_.places.where(place), view_.places.where(peers.place));
      if (cost) (*cost <= peers.max_cost ? here.satisfied : here.violated) += peers.pods;
      here.cost += peers.pods * cost.value_or(kMaxCost);
    }
  }
}

NetworkOverhead::Count NetworkOverhead::count(NodeId node) const {
  if (equal_) return {};
  const Place place = view_.places.of(node);
  Count count = of_place_[place];
  const auto held = std::lower_bound(on_node_.begin(), on_node_.end(), node.slot,
                                     [](const OnNode& one, std::uint32_t slot) { return one.node < slot; });
  if (held == on_node_.end() || held->node != node.slot) return count;
  if (place == 0) {
    count.violated -= held->pods;
    count.satisfied += held->pods;
  }
  count.cost -= held->pods * (place == 0 ? kMaxCost : kSameZone);
  return count;
}

void NetworkOverhead::clear_unfit(std::span<std::uint8_t> feasible) const {
  if (equal_) return;
  const auto& of_nodes = view_.places.of_nodes();
  const std::size_t n = std::min(feasible.size(), of_nodes.size());
  std::vector<std::uint8_t> held(on_node_.size());
  for (std::size_t i = 0; i < held.size(); ++i)
    held[i] = on_node_[i].node < n && feasible[on_node_[i].node] && count({on_node_[i].node}).passes();
  std::vector<std::uint8_t> fit(of_place_.size());
  for (std::size_t i = 0; i < fit.size(); ++i) fit[i] = of_place_[i].passes();
  for (std::size_t slot = 0; slot < n; ++slot) feasible[slot] &= fit[of_nodes[slot]];
  for (std::size_t i = 0; i < held.size(); ++i)
    if (on_node_[i].node < n) feasible[on_node_[i].node] = held[i];
}

Verdict NetworkOverhead::judge(NodeId node) const {
  const Count here = count(node);
  if (here.passes()) return {};
  return {{"Node " + cluster_.node(node).name +
           " does not meet several network requirements from Workload dependencies: Satisfied: " +
           std::to_string(here.satisfied) + " Violated: " + std::to_string(here.violated)},
          false};
}

void NetworkOverhead::costs(std::span<std::int64_t> of_node) const {
  if (equal_) return std::fill(of_node.begin(), of_node.end(), std::int64_t{0});
  const auto& of_nodes = view_.places.of_nodes();
  const std::size_t n = std::min(of_node.size(), of_nodes.size());
  for (std::size_t slot = 0; slot < n; ++slot) of_node[slot] = of_place_[of_nodes[slot]].cost;
  for (const OnNode& held : on_node_)
    if (held.node < n) of_node[held.node] = count({held.node}).cost;
}

void add_normalized_costs(std::span<const std::int64_t> costs, std::span<const std::uint8_t> feasible,
                          float weight, std::span<float> totals) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max(),
               most = std::numeric_limits<std::int64_t>::min();
  for (std::size_t slot = 0; slot < costs.size(); ++slot) {
    if (!feasible[slot]) continue;
    least = std::min(least, costs[slot]);
    most = std::max(most, costs[slot]);
  }
  if (least > most || (least == 0 && most == 0)) return;
  const auto width = static_cast<double>(most - least);
  for (std::size_t slot = 0; slot < costs.size(); ++slot) {
    if (!feasible[slot]) continue;
    // In upstream's order of operations, since the last step drops what is behind the point.
    const double share = most == least ? 0 : 100.0 * static_cast<double>(costs[slot] - least) / width;
    totals[slot] += weight * static_cast<float>(100 - static_cast<std::int64_t>(share));
  }
}

}  // namespace evenkeel::scheduling
