#include "scheduling/bandwidth_ledger.h"

#include <algorithm>

namespace evenkeel::scheduling {
namespace {

std::string key_of(std::string_view name_space, std::string_view name) {
  std::string key;
  key.reserve(name_space.size() + name.size() + 1);
  return key.append(name_space).append("/").append(name);
}

void add_pod(std::vector<BandwidthLedger::OnNode>& nodes, std::uint32_t node) {
  for (BandwidthLedger::OnNode& known : nodes)
    if (known.node == node) {
      ++known.pods;
      return;
    }
  nodes.push_back({node, 1});
}

bool remove_pod(std::vector<BandwidthLedger::OnNode>& nodes, std::uint32_t node) {
  const auto at = std::find_if(nodes.begin(), nodes.end(),
                               [&](const BandwidthLedger::OnNode& known) { return known.node == node; });
  if (at == nodes.end()) return false;
  if (--at->pods == 0) nodes.erase(at);
  return true;
}

}  // namespace

const BandwidthLedger::Group* BandwidthLedger::group(std::string_view name_space,
                                                     std::string_view name) const {
  const auto at = groups_.find(key_of(name_space, name));
  return at == groups_.end() ? nullptr : &at->second;
}

void BandwidthLedger::refresh(const ClusterState& cluster, const NetworkPlaces& places) {
  const PlacementLog& log = cluster.placement_log();
  const auto happened = log.since(noted_);
  if (!happened || moves_ != places.moves()) {
    begin_anew(cluster, places);
  } else {
    for (const PlacementLog::Entry& entry : *happened) note(*entry.shape, entry.node, entry.came, places);
  }
  noted_ = log.end();
  moves_ = places.moves();
  if (objects_ != cluster.objects().network_version()) read_groups(cluster, places);
  objects_ = cluster.objects().network_version();
}

void BandwidthLedger::begin_anew(const ClusterState& cluster, const NetworkPlaces& places) {
  groups_.clear();
  zones_.clear();
  regions_.clear();
  leaving_.clear();
  read_groups(cluster, places);
}

// Groups whose status alone changed stay as they are.
void BandwidthLedger::read_groups(const ClusterState& cluster, const NetworkPlaces& places) {
  const auto& objects = cluster.objects().app_groups();
  for (auto known = groups_.begin(); known != groups_.end();) {
    const auto object = objects.find(known->first);
    if (object != objects.end() && object->second.workloads == known->second.made_of) {
      ++known;
      continue;
    }
    reserve_all(known->second, places, -1);
    known = groups_.erase(known);
  }
  for (const auto& [name, object] : objects) {
    if (groups_.contains(name)) continue;
    Group& group = groups_[name];
    group.graph = GroupGraph(object);
    group.made_of = object.workloads;
    place_members(cluster, object, group);
    reserve_all(group, places, 1);
  }
}

void BandwidthLedger::place_members(const ClusterState& cluster, const AppGroup& of, Group& group) {
  group.at.assign(group.graph.workloads(), {});
  for (const PodId id : cluster.groups().of(of.name_space, of.name)) {
    const PodRecord* record = cluster.pod(id);
    if (!record || record->place == PodPlace::pending) continue;
    if (const auto workload = group.graph.workload(record->pod.shape->app_workload))
      add_pod(group.at[*workload], record->node.slot);
  }
}

void BandwidthLedger::note(const PodTemplate& shape, NodeId node, bool came, const NetworkPlaces& places) {
  const auto known = groups_.find(key_of(shape.name_space, shape.app_group));
  if (known == groups_.end()) return;
  Group& group = known->second;
  const auto workload = group.graph.workload(shape.app_workload);
  if (!workload) return;
  // What it reserves is between it and the others: who leaves is taken out first, who comes is put in last.
  if (!came && !remove_pod(group.at[*workload], node.slot)) return;
  if (group.graph.reserves()) {
    const Bits sign = came ? 1 : -1;
    for (const std::uint32_t number : group.graph.out_of(*workload)) {
      const GroupGraph::Edge& edge = group.graph.edge(number);
      for (const OnNode& peer : group.at[edge.to])
        reserve(node.slot, peer.node, sign * edge.bandwidth * peer.pods, places);
    }
    for (const std::uint32_t number : group.graph.into(*workload)) {
      const GroupGraph::Edge& edge = group.graph.edge(number);
      for (const OnNode& peer : group.at[edge.from])
        reserve(peer.node, node.slot, sign * edge.bandwidth * peer.pods, places);
    }
  }
  if (came) add_pod(group.at[*workload], node.slot);
}

void BandwidthLedger::reserve_all(const Group& group, const NetworkPlaces& places, std::int64_t sign) {
  for (const GroupGraph::Edge& edge : group.graph.edges()) {
    if (edge.bandwidth == 0) continue;
    for (const OnNode& from : group.at[edge.from])
      for (const OnNode& to : group.at[edge.to])
        reserve(from.node, to.node, Bits{sign} * edge.bandwidth * from.pods * to.pods, places);
  }
}

void BandwidthLedger::reserve(std::uint32_t from, std::uint32_t to, Bits bits, const NetworkPlaces& places) {
  if (from == to || bits == 0) return;
  if (from >= leaving_.size()) leaving_.resize(from + std::size_t{1});
  leaving_[from] += bits;
  const Place a = places.of({from}), b = places.of({to});
  if (a == b) return;
  const NetworkPlaces::Where &sender = places.where(a), &receiver = places.where(b);
  const bool is_near = sender.region == receiver.region;
  Used& used = is_near ? zones_ : regions_;
  const std::uint64_t key = is_near ? std::uint64_t{sender.zone} << 32U | receiver.zone
                                    : std::uint64_t{sender.region} << 32U | receiver.region;
  const auto at = used.try_emplace(key, 0).first;
  if ((at->second += bits) == 0) used.erase(at);
}

}  // namespace evenkeel::scheduling
