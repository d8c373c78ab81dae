#include "optimum/joined_groups.h"

#include <map>

#include "scheduling/network_view.h"

namespace evenkeel::optimum {

using scheduling::GroupProblem;
using scheduling::GroupView;
using scheduling::NetworkPlaces;
using scheduling::NetworkView;
using scheduling::Place;

namespace {

double room_of(std::int64_t bits) {
  return bits == NetworkPlaces::kUnlimited ? GroupProblem::kUnlimited : static_cast<double>(bits);
}

// Zones, costs and links of all the nodes.
void add_network(JoinedGroups& joined, const NetworkView& network) {
  GroupProblem& problem = joined.problem;
  std::map<Place, std::uint32_t> zones;
  std::map<std::uint32_t, std::uint32_t> regions;
  std::vector<Place> places;
  for (std::size_t n = 0; n < joined.nodes.size(); ++n) {
    const Place place = network.places.of(joined.nodes[n]);
    const auto [at, fresh] = zones.emplace(place, static_cast<std::uint32_t>(zones.size()));
    problem.nodes[n].zone = at->second;
    if (!fresh) continue;
    places.push_back(place);
    const auto region =
        regions.emplace(network.places.where(place).region, static_cast<std::uint32_t>(regions.size()));
    problem.region.push_back(region.first->second);
  }
  problem.zones = static_cast<std::uint32_t>(places.size());
  problem.regions = static_cast<std::uint32_t>(regions.size());
  problem.same_node = static_cast<double>(NetworkView::kSameNode);
  problem.region_room.assign(std::size_t{problem.regions} * problem.regions, GroupProblem::kUnlimited);
  for (std::uint32_t a = 0; a < problem.zones; ++a)
    for (std::uint32_t b = 0; b < problem.zones; ++b) {
      problem.cost.push_back(static_cast<double>(network.counted_cost(places[a], places[b])));
      const double room = room_of(network.room(places[a], places[b]));
      const bool same_region = problem.region[a] == problem.region[b];
      problem.zone_room.push_back(same_region ? room : GroupProblem::kUnlimited);
      if (!same_region) problem.region_room[problem.region[a] * problem.regions + problem.region[b]] = room;
    }
}

// The view's pods, edges and rules, with the numbers they have among all.
void add_group(JoinedGroups& joined, const GroupView& view, std::uint32_t application,
               const std::map<NodeId, std::uint32_t>& numbers) {
  GroupProblem& problem = joined.problem;
  const auto first = static_cast<std::uint32_t>(problem.pods.size());
  std::vector<std::uint32_t> number;
  for (const NodeId node : view.nodes) number.push_back(numbers.at(node));
  for (const GroupProblem::Pod& pod : view.problem.pods) {
    GroupProblem::Pod own = pod;
    own.bias.clear();
    // Where the view does not look, its pods may not be.
    own.allowed.assign(joined.nodes.size(), 0);
    for (std::size_t n = 0; n < number.size(); ++n)
      own.allowed[number[n]] = pod.allowed.empty() || pod.allowed[n] ? 1 : 0;
    if (pod.fixed != GroupProblem::kNowhere) own.fixed = number[pod.fixed];
    problem.pods.push_back(std::move(own));
    joined.application.push_back(application);
  }
  joined.pods.insert(joined.pods.end(), view.pods.begin(), view.pods.end());
  for (GroupProblem::Edge edge : view.problem.edges) {
    edge.from += first;
    edge.to += first;
    problem.edges.push_back(edge);
  }
  for (GroupProblem::Apart rule : view.problem.apart) {
    for (std::uint32_t& pod : rule.pods) pod += first;
    if (!rule.taken.empty() && !rule.by_zone) {
      std::vector<std::uint8_t> taken(joined.nodes.size(), 0);
      for (std::size_t n = 0; n < number.size(); ++n) taken[number[n]] = rule.taken[n];
      rule.taken = std::move(taken);
    } else if (!rule.taken.empty()) {
      std::vector<std::uint8_t> taken(problem.zones, 0);
      for (std::size_t n = 0; n < number.size(); ++n)
        taken[problem.nodes[number[n]].zone] = rule.taken[view.problem.nodes[n].zone];
      rule.taken = std::move(taken);
    }
    problem.apart.push_back(std::move(rule));
  }
}

}  // namespace

Result<JoinedGroups> join_groups(std::span<const GroupView> views, const ClusterState& cluster,
                                 const scheduling::SchedulingOptions& options) {
  JoinedGroups joined;
  std::map<NodeId, std::uint32_t> numbers;
  for (const GroupView& view : views)
    for (std::size_t n = 0; n < view.nodes.size(); ++n) {
      if (!numbers.emplace(view.nodes[n], static_cast<std::uint32_t>(joined.nodes.size())).second) continue;
      joined.nodes.push_back(view.nodes[n]);
      joined.problem.nodes.push_back(view.problem.nodes[n]);
      if (view.problem.nodes[n].free.size() != joined.problem.nodes.front().free.size())
        return invalid("groups that ask for different extended resources cannot be looked at together");
    }
  add_network(joined, view_network(cluster, options.profile.network));
  for (std::uint32_t i = 0; i < views.size(); ++i) add_group(joined, views[i], i, numbers);
  return joined;
}

}  // namespace evenkeel::optimum
