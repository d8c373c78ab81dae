#include "scheduling/network_view.h"

#include <algorithm>

namespace evenkeel::scheduling {
namespace {

// Which of a topology's sets of costs are meant. Where nobody said so and nobody defined any by hand, what
// was measured will do.
std::string_view weights_meant(const NetworkTopology& topology, const NetworkArguments& arguments) {
  const auto has = [&](std::string_view name) {
    return std::any_of(topology.weights.begin(), topology.weights.end(),
                       [&](const NetworkTopology::Weights& weights) { return weights.name == name; });
  };
  if (arguments.given || has(arguments.weights) || topology.weights.empty()) return arguments.weights;
  return has("NetperfCosts") ? std::string_view("NetperfCosts") : topology.weights.front().name;
}

std::string asked_for(const NetworkArguments& arguments) {
  std::string where;
  for (const std::string& name_space : arguments.namespaces)
    where += (where.empty() ? "" : ", ") + name_space;
  return "no NetworkTopology '" + arguments.topology + "' in namespace " + where;
}

std::int64_t less(std::int64_t capacity, BandwidthLedger::Bits used) {
  if (capacity == NetworkPlaces::kUnlimited) return capacity;
  constexpr BandwidthLedger::Bits kLeast = std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(std::max(kLeast, BandwidthLedger::Bits{capacity} - used));
}

}  // namespace

const NetworkTopology* find_topology(const ObjectStore& objects, const NetworkArguments& arguments) {
  for (const std::string& name_space : arguments.namespaces)
    if (const NetworkTopology* found = objects.network_topology(name_space, arguments.topology)) return found;
  const auto& all = objects.network_topologies();
  return !arguments.given && all.size() == 1 ? &all.begin()->second : nullptr;
}

void LinkCosts::refresh(const ObjectStore& objects, const NetworkArguments& arguments,
                        NetworkPlaces& places) {
  if (version_ == objects.network_version()) return;
  version_ = objects.network_version();
  zones_.clear();
  regions_.clear();
  unknown_ = 100;
  const NetworkTopology* topology = find_topology(objects, arguments);
  found_ = topology != nullptr;
  missing_ = found_ ? "" : asked_for(arguments);
  if (found_) read(*topology, arguments, places);
}

void LinkCosts::read(const NetworkTopology& topology, const NetworkArguments& arguments,
                     NetworkPlaces& places) {
  const std::string_view meant = weights_meant(topology, arguments);
  bool defined = false;
  for (const NetworkTopology::Weights& weights : topology.weights) {
    if (weights.name != meant) continue;
    defined = true;
    for (const NetworkTopology::Level& level : weights.levels) {
      if (level.topology_key != kRegionLabel && level.topology_key != kZoneLabel) continue;
      Links& links = level.topology_key == kRegionLabel ? regions_ : zones_;
      for (const NetworkTopology::Origin& origin : level.origins) {
        if (origin.origin.empty()) continue;
        const std::uint64_t from = places.number(origin.origin);
        for (const NetworkTopology::Cost& cost : origin.costs) {
          if (cost.cost < 0) continue;  // no cost at all, then
          Link link{std::min(cost.cost, kDearest)};
          if (cost.capacity) link.capacity = std::max<std::int64_t>(cost.capacity->count, 0);
          links.insert_or_assign(from << 32U | places.number(cost.destination), link);
          unknown_ = std::max(unknown_, 10 * link.cost);
        }
      }
    }
  }
  if (!defined)
    missing_ = "NetworkTopology '" + topology.name_space + "/" + topology.name + "' has no weights called '" +
               std::string(meant) + "'";
}

std::optional<std::int64_t> NetworkView::cost(Place from, Place to) const {
  const NetworkPlaces::Where &a = places.where(from), &b = places.where(to);
  if (from == to) return from == 0 ? std::nullopt : std::optional(kSamePlace);
  const LinkCosts::Link* link =
      a.region == b.region ? links.between_zones(a.zone, b.zone) : links.between_regions(a.region, b.region);
  return link ? std::optional(link->cost) : std::nullopt;
}

std::int64_t NetworkView::room(Place from, Place to) const {
  if (from == to) return LinkCosts::kUnlimited;
  const NetworkPlaces::Where &a = places.where(from), &b = places.where(to);
  if (a.region == b.region) {
    const LinkCosts::Link* link = links.between_zones(a.zone, b.zone);
    return link ? less(link->capacity, ledger.between_zones(a.zone, b.zone)) : LinkCosts::kUnlimited;
  }
  const LinkCosts::Link* link = links.between_regions(a.region, b.region);
  return link ? less(link->capacity, ledger.between_regions(a.region, b.region)) : LinkCosts::kUnlimited;
}

std::int64_t NetworkView::egress_room(NodeId node) const {
  const auto& capacity = places.egress();
  return node.slot < capacity.size() ? less(capacity[node.slot], ledger.leaving(node))
                                     : LinkCosts::kUnlimited;
}

namespace {

// Kept beside the cluster. Profiles may mean different topologies; places and bookings are the same to all.
struct NetworkState {
  NetworkPlaces places;
  BandwidthLedger ledger;
  struct Meant {
    NetworkArguments arguments;
    LinkCosts links;
  };
  std::vector<std::unique_ptr<Meant>> meant;  // stays where it is: views point at it

  LinkCosts& links(const NetworkArguments& arguments) {
    for (const auto& known : meant)
      if (known->arguments == arguments) return known->links;
    return meant.emplace_back(std::make_unique<Meant>(Meant{arguments, {}}))->links;
  }
};

}  // namespace

NetworkView view_network(const ClusterState& cluster, const NetworkArguments& arguments) {
  auto& state = cluster.attached<NetworkState>();
  state.places.refresh(cluster);
  LinkCosts& links = state.links(arguments);
  links.refresh(cluster.objects(), arguments, state.places);
  state.ledger.refresh(cluster, state.places);
  return {state.places, links, state.ledger};
}

}  // namespace evenkeel::scheduling
