#include "scheduling/pod_network.h"

#include <algorithm>
#include <tuple>

namespace evenkeel::scheduling {
namespace {

bool fits(BandwidthLedger::Bits wanted, std::int64_t room) {
  return wanted == 0 || room == LinkCosts::kUnlimited || wanted <= room;
}

}  // namespace

PodNetwork::PodNetwork(const Pod& pod, const ClusterState& cluster, const NetworkArguments& arguments)
    : pod_(pod), cluster_(cluster), view_(view_network(cluster, arguments)) {
  const PodTemplate& shape = *pod.shape;
  if (shape.app_group.empty()) return;
  const BandwidthLedger::Group* of = group();
  if (!of) {
    missing_ = "no AppGroup '" + shape.app_group + "' in namespace " + shape.name_space;
  } else if (!of->graph.workload(shape.app_workload)) {
    missing_ = "AppGroup '" + shape.app_group + "' has no workload '" + shape.app_workload + "'";
  } else {
    missing_ = view_.links.missing();
  }
  work_out();
}

void PodNetwork::work_out() {
  find_peers();
  sum_up_nodes();
  sum_up_places();
  of_place_.assign(peers_.empty() ? 0 : view_.places.count(), {});
  for (Place place = 0; place < of_place_.size(); ++place) weigh_place(place);
}

void PodNetwork::find_peers() {
  peers_.clear();
  const BandwidthLedger::Group* of = group();
  const auto workload = of ? of->graph.workload(pod_.shape->app_workload) : std::nullopt;
  if (!workload) return;
  const auto add = [&](const GroupGraph::Edge& edge, std::uint32_t other, bool are_targets) {
    for (const auto& [node, pods] : of->pods_of(other))
      // Of a pod whose node is gone nobody knows how far it is; its bookings stand until it is reported gone.
      if (cluster_.has_node({node}))
        peers_.push_back(
            {node, view_.places.of({node}), are_targets, edge.max_cost, pods, Bits{edge.bandwidth} * pods});
  };
  for (const std::uint32_t number : of->graph.out_of(*workload)) {
    const GroupGraph::Edge& edge = of->graph.edge(number);
    add(edge, edge.to, true);
  }
  for (const std::uint32_t number : of->graph.into(*workload)) {
    const GroupGraph::Edge& edge = of->graph.edge(number);
    add(edge, edge.from, false);
  }
}

void PodNetwork::sum_up_nodes() {
  of_node_.clear();
  cannot_send_.clear();
  sent_ = 0;
  std::sort(peers_.begin(), peers_.end(), [](const Peers& a, const Peers& b) { return a.node < b.node; });
  for (const Peers& peers : peers_) {
    if (of_node_.empty() || of_node_.back().node != peers.node) of_node_.push_back({peers.node, 0, 0, {}});
    OfNode& here = of_node_.back();
    here.pods += peers.pods;
    if (is_too_far(view_.cost(peers.place, peers.place), peers.max_cost)) here.too_far += peers.pods;
    (peers.are_targets ? here.traffic.out : here.traffic.in) += peers.bits;
    if (peers.are_targets) sent_ += peers.bits;
  }
  for (const OfNode& here : of_node_)
    if (!fits(here.traffic.in, view().egress_room({here.node}))) cannot_send_.push_back(here.node);
}

void PodNetwork::sum_up_places() {
  with_place_.clear();
  with_region_.clear();
  const auto kind = [](const Peers& a) { return std::tuple(a.place, a.are_targets, a.max_cost); };
  std::sort(peers_.begin(), peers_.end(), [&](const Peers& a, const Peers& b) { return kind(a) < kind(b); });
  std::vector<Peers> sums;
  for (const Peers& peers : peers_) {
    if (sums.empty() || kind(sums.back()) != kind(peers)) {
      sums.push_back(peers);
    } else {
      sums.back().pods += peers.pods;
      sums.back().bits += peers.bits;
    }
  }
  peers_ = std::move(sums);
  for (const Peers& peers : peers_) {
    if (peers.bits == 0) continue;
    for (Traffic* traffic :
         {&with_place_[peers.place], &with_region_[view_.places.where(peers.place).region]})
      (peers.are_targets ? traffic->out : traffic->in) += peers.bits;
  }
}

// An unknown cost meets no limit. Without any topology nothing can be said of limits, and pods had better
// run.
bool PodNetwork::is_too_far(std::optional<std::int64_t> cost, std::int64_t limit) const {
  return limit != GroupGraph::kNoLimit && view_.links.found() && (!cost || *cost > limit);
}

// For nodes of the place that hold no peer.
void PodNetwork::weigh_place(Place place) {
  OfPlace& here = of_place_[place];
  Place other = ~Place{0};
  std::optional<std::int64_t> there, back;
  for (const Peers& peers : peers_) {
    if (peers.place != other) {
      other = peers.place;
      there = view_.cost(place, other);
      back = view_.cost(other, place);
    }
    const std::optional<std::int64_t> cost = peers.are_targets ? there : back;
    here.cost += peers.pods * cost.value_or(view_.links.unknown_cost());
    if (is_too_far(cost, peers.max_cost)) here.too_far += peers.pods;
  }
  here.has_room = narrow_link(place).empty();
}

std::string PodNetwork::narrow_link(Place place) const {
  const NetworkView now = view();
  const NetworkPlaces::Where& here = now.places.where(place);
  const auto named = [&](const char* kind, std::uint32_t from, std::uint32_t to) {
    return std::string("Insufficient bandwidth from ") + kind + " " + now.places.name(from) + " to " + kind +
           " " + now.places.name(to);
  };
  for (const auto& [other, traffic] : with_place_) {
    const NetworkPlaces::Where& there = now.places.where(other);
    if (there.region == here.region) {
      if (!fits(traffic.out, now.room(place, other))) return named("zone", here.zone, there.zone);
      if (!fits(traffic.in, now.room(other, place))) return named("zone", there.zone, here.zone);
      continue;
    }
    // One link for all places of a region.
    const Traffic& all = with_region_.at(there.region);
    if (!fits(all.out, now.room(place, other))) return named("region", here.region, there.region);
    if (!fits(all.in, now.room(other, place))) return named("region", there.region, here.region);
  }
  return {};
}

const PodNetwork::OfNode* PodNetwork::holder(NodeId node) const {
  const auto at = std::lower_bound(of_node_.begin(), of_node_.end(), node.slot,
                                   [](const OfNode& one, std::uint32_t slot) { return one.node < slot; });
  return at != of_node_.end() && at->node == node.slot ? &*at : nullptr;
}

// What stays on a node does not leave it.
bool PodNetwork::peers_may_send_to(NodeId node) const {
  return cannot_send_.empty() || (cannot_send_.size() == 1 && cannot_send_.front() == node.slot);
}

void PodNetwork::clear_unfit(std::span<std::uint8_t> feasible) const {
  if (peers_.empty()) return;
  std::vector<std::uint8_t> held(of_node_.size());
  for (std::size_t i = 0; i < of_node_.size(); ++i) {
    const NodeId node{of_node_[i].node};
    held[i] = node.slot < feasible.size() && feasible[node.slot] && judge(node).passes();
  }
  std::vector<std::uint8_t> fit(of_place_.size());
  for (std::size_t i = 0; i < fit.size(); ++i)
    fit[i] = cannot_send_.empty() && of_place_[i].too_far == 0 && of_place_[i].has_room;
  const auto& of_nodes = view_.places.of_nodes();
  const std::size_t n = std::min(feasible.size(), of_nodes.size());
  for (std::size_t slot = 0; slot < n; ++slot) feasible[slot] &= fit[of_nodes[slot]];
  if (sent_ > 0 && view_.places.limits_egress()) {
    const NetworkView now = view();
    for (std::uint32_t slot = 0; slot < n; ++slot)
      if (feasible[slot] && !fits(sent_, now.egress_room({slot}))) feasible[slot] = 0;
  }
  for (std::size_t i = 0; i < of_node_.size(); ++i)
    if (of_node_[i].node < feasible.size()) feasible[of_node_[i].node] = held[i];
}

Verdict PodNetwork::judge(NodeId node) const {
  if (peers_.empty()) return {};
  const Place place = view_.places.of(node);
  const OfNode* const held = holder(node);
  const OfPlace& here = of_place_[place];
  // Ending pods there would not bring it any nearer.
  if (here.too_far > (held ? held->too_far : 0))
    return {{"node(s) exceeded maxNetworkCost to pods of the same AppGroup"}, true};
  if (!here.has_room) return {{narrow_link(place)}, false};
  if (!fits(sent_ - (held ? held->traffic.out : 0), view().egress_room(node)))
    return {{"Insufficient bandwidth out of the node"}, false};
  if (!peers_may_send_to(node))
    return {{"Insufficient bandwidth out of nodes that hold pods of the same AppGroup"}, false};
  return {};
}

std::int64_t PodNetwork::cost(NodeId node) const {
  if (peers_.empty()) return 0;
  const Place place = view_.places.of(node);
  const OfNode* const held = holder(node);
  return of_place_[place].cost - (held ? held->pods * view_.counted_cost(place, place) : 0);
}

void PodNetwork::costs(std::span<std::int64_t> of_node) const {
  if (peers_.empty()) return std::fill(of_node.begin(), of_node.end(), std::int64_t{0});
  const auto& of_nodes = view_.places.of_nodes();
  const std::size_t n = std::min(of_node.size(), of_nodes.size());
  for (std::size_t slot = 0; slot < n; ++slot) of_node[slot] = of_place_[of_nodes[slot]].cost;
  for (const OfNode& held : of_node_)
    if (held.node < n) of_node[held.node] = cost({held.node});
}

void PodNetwork::add(const Pod& other, NodeId node, int times) {
  if (pod_.shape->app_group.empty() || other.shape->app_group.empty()) return;
  if (!imagined_) imagined_ = std::make_unique<BandwidthLedger>(view_.ledger);
  imagined_->note(*other.shape, node, times > 0, view_.places);
  work_out();
}

std::vector<PodEdge> edges_of(const Pod& pod, const ClusterState& cluster,
                              const NetworkArguments& arguments) {
  std::vector<PodEdge> edges;
  const PodTemplate& shape = *pod.shape;
  const BandwidthLedger::Group* group =
      shape.app_group.empty()
          ? nullptr
          : view_network(cluster, arguments).ledger.group(shape.name_space, shape.app_group);
  const auto workload = group ? group->graph.workload(shape.app_workload) : std::nullopt;
  if (!workload) return edges;
  for (const PodId id : cluster.groups().of(shape.name_space, shape.app_group)) {
    const PodRecord* record = cluster.pod(id);
    if (!record || record->place == PodPlace::pending || id == pod.id || !cluster.has_node(record->node))
      continue;
    const auto other = group->graph.workload(record->pod.shape->app_workload);
    if (!other) continue;
    const auto add = [&](std::uint32_t number, bool is_target) {
      const GroupGraph::Edge& edge = group->graph.edge(number);
      if ((is_target ? edge.to : edge.from) == *other)
        edges.push_back({id, record->node, is_target, edge.bandwidth, edge.max_cost});
    };
    for (const std::uint32_t number : group->graph.out_of(*workload)) add(number, true);
    for (const std::uint32_t number : group->graph.into(*workload)) add(number, false);
  }
  return edges;
}

}  // namespace evenkeel::scheduling
