#include "scheduling/network_places.h"

#include "cluster/app_group.h"

namespace evenkeel::scheduling {

NetworkPlaces::NetworkPlaces() : names_{""}, numbers_{{"", 0}}, places_{{}}, by_where_{{0, 0}} {}

std::uint32_t NetworkPlaces::number(std::string_view name) {
  if (const auto at = numbers_.find(name); at != numbers_.end()) return at->second;
  const auto number = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(name);
  numbers_.emplace(name, number);
  return number;
}

Place NetworkPlaces::place_of(const Labels& labels) {
  const std::string *region = labels.find(kRegionLabel), *zone = labels.find(kZoneLabel);
  const Where where{region ? number(*region) : 0, zone ? number(*zone) : 0};
  const auto [at, is_new] = by_where_.try_emplace(std::uint64_t{where.region} << 32U | where.zone,
                                                  static_cast<Place>(places_.size()));
  if (is_new) places_.push_back(where);
  return at->second;
}

void NetworkPlaces::refresh(const ClusterState& cluster) {
  if (version_ == cluster.node_shapes()) return;
  version_ = cluster.node_shapes();
  const std::size_t slots = cluster.columns().size();
  const std::size_t before = of_node_.size();
  of_node_.resize(slots, 0);
  egress_.resize(slots, kUnlimited);
  limits_egress_ = false;
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    // A node that left is where it was: pods of it may still be on record, and count.
    if (!cluster.has_node({slot})) continue;
    const Node& node = cluster.node({slot});
    const Place place = place_of(node.labels);
    if (place != of_node_[slot] && slot < before) ++moves_;
    of_node_[slot] = place;
    const std::int64_t bits = node.allocatable.extended_count(kBandwidthResource);
    egress_[slot] = bits > 0 ? bits : kUnlimited;
    limits_egress_ = limits_egress_ || bits > 0;
  }
}

}  // namespace evenkeel::scheduling
