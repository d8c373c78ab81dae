#include "cluster/object_store.h"

#include "base/match.h"

namespace evenkeel {
namespace {

std::string key(std::string_view name_space, std::string_view name) {
  std::string joined(name_space);
  joined += '/';
  return joined += name;
}

std::string key(PodController::Kind kind, std::string_view name_space, std::string_view name) {
  return std::to_string(static_cast<int>(kind)) + "/" + key(name_space, name);
}

template <class Object>
const Object* find(const ObjectsByName<Object>& objects, std::string_view name) {
  const auto at = objects.find(name);
  return at == objects.end() ? nullptr : &at->second;
}

// Calls with the map that holds objects of this kind and the object's key in it.
template <class Store, class Visit>
void with_place(Store& store, const ClusterObject& object, Visit visit) {
  std::visit(
      Match{
          [&](const PersistentVolume& o) { visit(store.volumes, o.name, o); },
          [&](const PersistentVolumeClaim& o) { visit(store.claims, key(o.name_space, o.name), o); },
          [&](const StorageClass& o) { visit(store.storage_classes, o.name, o); },
          [&](const CsiNode& o) { visit(store.csi_nodes, o.node, o); },
          [&](const CsiDriver& o) { visit(store.csi_drivers, o.name, o); },
          [&](const CsiStorageCapacity& o) { visit(store.capacities, key(o.name_space, o.name), o); },
          [&](const VolumeAttachment& o) { visit(store.attachments, o.name, o); },
          [&](const Namespace& o) { visit(store.namespaces, o.name, o); },
          [&](const PodController& o) { visit(store.controllers, key(o.kind, o.name_space, o.name), o); },
          [&](const PodDisruptionBudget& o) { visit(store.budgets, key(o.name_space, o.name), o); },
          [&](const PriorityClass& o) { visit(store.priority_classes, o.name, o); },
          [&](const AppGroup& o) { visit(store.app_groups, key(o.name_space, o.name), o); },
          [&](const NetworkTopology& o) { visit(store.topologies, key(o.name_space, o.name), o); },
      },
      object);
}

}  // namespace

void ObjectStore::note(const ClusterObject& object) {
  ++version_;
  if (std::holds_alternative<AppGroup>(object) || std::holds_alternative<NetworkTopology>(object))
    ++network_version_;
}

void ObjectStore::set(const ClusterObject& object) {
  note(object);
  with_place(maps_, object,
             [](auto& map, const std::string& name, const auto& o) { map.insert_or_assign(name, o); });
}

void ObjectStore::remove(const ClusterObject& object) {
  note(object);
  with_place(maps_, object, [](auto& map, const std::string& name, const auto&) { map.erase(name); });
}

const PersistentVolume* ObjectStore::volume(std::string_view name) const { return find(maps_.volumes, name); }

const PersistentVolumeClaim* ObjectStore::claim(std::string_view name_space, std::string_view name) const {
  return find(maps_.claims, key(name_space, name));
}

const StorageClass* ObjectStore::storage_class(std::string_view name) const {
  return find(maps_.storage_classes, name);
}

const CsiNode* ObjectStore::csi_node(std::string_view name) const { return find(maps_.csi_nodes, name); }

const CsiDriver* ObjectStore::csi_driver(std::string_view name) const {
  return find(maps_.csi_drivers, name);
}

const PodController* ObjectStore::controller(PodController::Kind kind, std::string_view name_space,
                                             std::string_view name) const {
  return find(maps_.controllers, key(kind, name_space, name));
}

const AppGroup* ObjectStore::app_group(std::string_view name_space, std::string_view name) const {
  return find(maps_.app_groups, key(name_space, name));
}

const NetworkTopology* ObjectStore::network_topology(std::string_view name_space,
                                                     std::string_view name) const {
  return find(maps_.topologies, key(name_space, name));
}

void ObjectStore::reserve(std::span<const VolumeBinding> bindings, const std::string& node) {
  for (const auto& [name_space, claim, volume] : bindings) {
    if (volume.empty()) {
      selected_[key(name_space, claim)] = node;
    } else {
      promised_[volume] = {name_space, claim, ""};
    }
  }
}

void ObjectStore::release(std::span<const VolumeBinding> bindings) {
  for (const auto& [name_space, claim, volume] : bindings)
    volume.empty() ? selected_.erase(key(name_space, claim)) : promised_.erase(volume);
}

const ClaimReference* ObjectStore::claimed_by(const PersistentVolume& volume) const {
  if (volume.claim) return &*volume.claim;
  const auto at = promised_.find(volume.name);
  return at == promised_.end() ? nullptr : &at->second;
}

const std::string& ObjectStore::selected_node(const PersistentVolumeClaim& claim) const {
  if (!claim.selected_node.empty()) return claim.selected_node;
  const auto at = selected_.find(key(claim.name_space, claim.name));
  return at == selected_.end() ? claim.selected_node : at->second;
}

const Labels& ObjectStore::namespace_labels(std::string_view name) const {
  static const Labels kNone;
  const Namespace* found = find(maps_.namespaces, name);
  return found ? found->labels : kNone;
}

}  // namespace evenkeel
