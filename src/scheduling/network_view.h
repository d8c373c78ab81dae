// The network as numbers: where each node is, what it costs to talk from one place to another, what links may
// carry and what they carry already. Worked out of the cluster when first asked for and kept up since, so
// that a question about ten thousand nodes is a walk over a column.
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cluster/cluster_state.h"
#include "scheduling/bandwidth_ledger.h"
#include "scheduling/network_places.h"
#include "scheduling/profile.h"

namespace evenkeel::scheduling {

// What a NetworkTopology says, names replaced by numbers (NetworkPlaces::number).
class LinkCosts {
 public:
  static constexpr std::int64_t kUnlimited = NetworkPlaces::kUnlimited;
  // Dearer than this is taken for this much, so that sums stay numbers.
  static constexpr std::int64_t kDearest = std::int64_t{1} << 31;

  struct Link {
    std::int64_t cost = 0;
    std::int64_t capacity = kUnlimited;  // bit/s
  };

  void refresh(const ObjectStore& objects, const NetworkArguments& arguments, NetworkPlaces& places);

  bool found() const { return found_; }
  // Why nothing is known; empty when something is.
  const std::string& missing() const { return missing_; }
  const Link* between_zones(std::uint32_t from, std::uint32_t to) const { return find(zones_, from, to); }
  const Link* between_regions(std::uint32_t from, std::uint32_t to) const { return find(regions_, from, to); }
  // What an unknown cost counts as: dearer than anything known, never free.
  std::int64_t unknown_cost() const { return unknown_; }

 private:
  using Links = std::unordered_map<std::uint64_t, Link>;
  static const Link* find(const Links& links, std::uint32_t from, std::uint32_t to) {
    const auto at = links.find(std::uint64_t{from} << 32U | to);
    return at == links.end() ? nullptr : &at->second;
  }
  void read(const NetworkTopology& topology, const NetworkArguments& arguments, NetworkPlaces& places);

  Links zones_, regions_;
  std::string missing_;
  std::int64_t unknown_ = 100;
  std::uint64_t version_ = ~std::uint64_t{0};  // of the objects, when last looked
  bool found_ = false;
};

// Valid until anything about the cluster changes.
struct NetworkView {
  const NetworkPlaces& places;
  const LinkCosts& links;
  const BandwidthLedger& ledger;

  static constexpr std::int64_t kSameNode = 0, kSamePlace = 1;

  // From a node of one place to another node, there or elsewhere; none: nobody knows. A node without any
  // label is nowhere in particular, and what it costs to talk to it is not known.
  std::optional<std::int64_t> cost(Place from, Place to) const;
  std::optional<std::int64_t> cost(NodeId from, NodeId to) const {
    return from == to ? std::optional(kSameNode) : cost(places.of(from), places.of(to));
  }
  std::int64_t counted_cost(Place from, Place to) const {
    return cost(from, to).value_or(links.unknown_cost());
  }
  // What the link between two places may still carry; negative: it is over-booked. Within a place there is
  // none to be booked.
  std::int64_t room(Place from, Place to) const;
  std::int64_t egress_room(NodeId node) const;  // likewise, of what leaves the node for others
};

NetworkView view_network(const ClusterState& cluster, const NetworkArguments& arguments);

// The topology that the arguments mean. Null: there is none.
const NetworkTopology* find_topology(const ObjectStore& objects, const NetworkArguments& arguments);

}  // namespace evenkeel::scheduling
