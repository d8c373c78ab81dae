// Nodes, and everything that is neither node nor pod.
#include <utility>

#include "base/match.h"
#include "kubernetes/cluster_feed.h"
#include "kubernetes/json_field.h"
#include "kubernetes/read_object.h"

namespace evenkeel::kubernetes {
namespace {

constexpr std::size_t kMostRefused = 10'000;  // names kept so as not to repeat them

std::string key_of(const ResourceType& type, const ObjectIdentity& identity) {
  return type.kind + " " + identity.key();
}

// A half-filled object that says which one went.
std::optional<ClusterObject> named(const ResourceType& type, const ObjectIdentity& identity) {
  const std::string &kind = type.kind, &name = identity.name, &name_space = identity.name_space;
  const auto controller = [&](PodController::Kind which) {
    return PodController{which, name_space, name, std::nullopt};
  };
  if (kind == "PersistentVolume") {
    PersistentVolume volume;
    volume.name = name;
    return volume;
  }
  if (kind == "PersistentVolumeClaim") {
    PersistentVolumeClaim claim;
    claim.name_space = name_space;
    claim.name = name;
    return claim;
  }
  if (kind == "StorageClass") return StorageClass{name, "", std::nullopt, {}};
  if (kind == "CSINode") return CsiNode{name, {}, {}};
  if (kind == "CSIDriver") return CsiDriver{name, false};
  if (kind == "CSIStorageCapacity")
    return CsiStorageCapacity{name_space, name, "", std::nullopt, std::nullopt, std::nullopt};
  if (kind == "VolumeAttachment") return VolumeAttachment{name, "", "", std::nullopt};
  if (kind == "Namespace") return Namespace{name, {}};
  if (kind == "Service") return controller(PodController::Kind::service);
  if (kind == "ReplicationController") return controller(PodController::Kind::replication_controller);
  if (kind == "ReplicaSet") return controller(PodController::Kind::replica_set);
  if (kind == "StatefulSet") return controller(PodController::Kind::stateful_set);
  if (kind == "PodDisruptionBudget") return PodDisruptionBudget{name_space, name, std::nullopt, 0, {}};
  if (kind == "PriorityClass") return PriorityClass{name, 0, false, PreemptionPolicy::lower_priority};
  if (kind == "AppGroup") return AppGroup{name_space, name, 1, {}, {}, {}, false};
  if (kind == "NetworkTopology") return NetworkTopology{name_space, name, {}, {}};
  return std::nullopt;
}

}  // namespace

std::optional<ApiObject> ClusterFeed::read(const ResourceType& type, const WireObject& object) {
  const std::string name = key_of(type, object.identity);
  const auto document = JsonDocument::parse(object.json, name);
  if (!document) {
    refuse(name, document.error().message);
    return std::nullopt;
  }
  auto read = read_object(document->root(), type.kind, type.api_version);
  if (!read) {
    refuse(name, read.error().message);
    if (type.kind == "Pod") note_unreadable_pod(object.identity, document->root(), read.error().message);
    return std::nullopt;
  }
  return *std::move(read);
}

void ClusterFeed::note_unreadable_pod(const ObjectIdentity& identity, JsonValue object,
                                      const std::string& why) {
  JsonReading reading("pod");
  const JsonField spec = JsonField(reading, object).at("spec");
  std::string scheduler_name = spec.text_at("schedulerName", "default-scheduler");
  const bool waits = spec.text_at("nodeName").empty();
  if (!waits || reading.error() || !is_ours(scheduler_name, identity.name_space)) return;
  if (unreadable_pods_.size() >= kMostRefused) return;
  unreadable_pods_.push_back({identity, std::move(scheduler_name), why});
}

void ClusterFeed::refuse(const std::string& name, const std::string& why) {
  ++unreadable_;
  if (refused_.size() >= kMostRefused) refused_.clear();
  if (refused_.insert(name).second) trouble_("left out: " + why);
}

NodeId ClusterFeed::new_node() {
  if (free_nodes_.empty()) {
    nodes_.emplace_back();
    return {static_cast<std::uint32_t>(nodes_.size() - 1)};
  }
  const NodeId id{free_nodes_.back()};
  free_nodes_.pop_back();
  return id;
}

// Its handle can be given to another node once none of our bindings refers to it any more.
void ClusterFeed::free_node(std::uint32_t slot) {
  if (!nodes_[slot].is_known && nodes_[slot].assumed == 0) free_nodes_.push_back(slot);
}

void ClusterFeed::node_changed(const ObjectChange& change) {
  const std::string& name = change.object.identity.name;
  if (change.type == ObjectChange::Type::deleted) return node_deleted(name);
  std::optional<ApiObject> object = read(types::nodes(), change.object);
  if (!object) return;
  auto& seen = std::get<Node>(*object);
  if (options_.nodes && !matches(*options_.nodes, seen.labels)) return node_deleted(name);
  if (const auto at = node_slots_.find(name); at != node_slots_.end()) {
    Node& known = nodes_[at->second].node;
    seen.id = known.id;
    for (std::size_t d = 2; d < kDimensions; ++d) seen.capacity.of[d] = known.capacity.of[d];  // of reports
    if (seen == known) return;
    name_node(known, false);
    known = std::move(seen);
    name_node(known, true);
    events_.push_back(NodeUpdated{known});
    return;
  }
  const NodeId id = new_node();
  KnownNode& fresh = nodes_[id.slot];
  fresh.node = std::move(seen);
  fresh.node.id = id;
  fresh.is_known = true;
  node_slots_[name] = id.slot;
  name_node(fresh.node, true);
  events_.push_back(NodeAdded{fresh.node});
  const auto waited = bound_.find(name);
  if (waited == bound_.end()) return;
  for (const std::uint32_t pod : waited->second) tell(pods_[pod], false);
}

void ClusterFeed::node_deleted(const std::string& name) {
  const auto at = node_slots_.find(name);
  if (at == node_slots_.end()) return;
  const std::uint32_t slot = at->second;
  node_slots_.erase(at);
  if (const auto there = bound_.find(name); there != bound_.end())
    for (const std::uint32_t pod : there->second) retract(pods_[pod], PodEnd::deleted);
  events_.push_back(NodeRemoved{{slot}});
  name_node(nodes_[slot].node, false);
  nodes_[slot].is_known = false;
  nodes_[slot].node = {};
  free_node(slot);
}

std::optional<NodeId> ClusterFeed::node_named(const std::string& name) const {
  const auto at = node_slots_.find(name);
  return at == node_slots_.end() ? std::nullopt : std::optional(NodeId{at->second});
}

const std::string* ClusterFeed::node_name(NodeId node) const {
  return node.slot < nodes_.size() && nodes_[node.slot].is_known ? &nodes_[node.slot].node.name : nullptr;
}

void ClusterFeed::object_changed(const ResourceType& type, const ObjectChange& change) {
  const std::string key = key_of(type, change.object.identity);
  if (change.type == ObjectChange::Type::deleted) {
    if (objects_.erase(key) == 0) return;
    if (auto which = named(type, change.object.identity)) events_.push_back(ObjectGone{*std::move(which)});
    return;
  }
  std::optional<ApiObject> read_in = read(type, change.object);
  const auto* seen = read_in ? std::get_if<ClusterObject>(&*read_in) : nullptr;
  if (!seen) return;
  const auto [at, is_new] = objects_.try_emplace(key);
  KnownObject& known = at->second;
  known.uid = change.object.identity.uid;
  known.resource_version = change.object.identity.resource_version;
  if (!is_new && known.object == *seen) return;  // a status nobody looks at
  known.object = *seen;
  events_.push_back(ObjectSet{known.object});
}

const ClusterFeed::KnownObject* ClusterFeed::claim(std::string_view name_space, std::string_view name) const {
  const auto at = objects_.find("PersistentVolumeClaim " + std::string(name_space) + "/" + std::string(name));
  return at == objects_.end() ? nullptr : &at->second;
}

const ClusterFeed::KnownObject* ClusterFeed::volume(std::string_view name) const {
  const auto at = objects_.find("PersistentVolume " + std::string(name));
  return at == objects_.end() ? nullptr : &at->second;
}

// Admission has done this on every usual server; where it has not, as it would.
void ClusterFeed::resolve_priority(PodObject& pod) const {
  if (pod.priority_given || pod.priority_class.empty()) return;
  const auto at = objects_.find("PriorityClass " + pod.priority_class);
  if (at == objects_.end()) return;
  const auto& priority = std::get<PriorityClass>(at->second.object);
  pod.spec.priority = priority.value;
  if (priority.preemption == PreemptionPolicy::never) pod.spec.preemption = PreemptionPolicy::never;
}

}  // namespace evenkeel::kubernetes
