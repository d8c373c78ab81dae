#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "cluster/objects.h"

namespace evenkeel {

// Keyed by name, or "namespace/name"; ordered, so that whoever walks them decides the same way
// every time.
template <class Object>
using ObjectsByName = std::map<std::string, Object, std::less<>>;

// The objects as last reported. Setting replaces; removing looks at the name alone, so that a
// half-filled object will do as a key.
class ObjectStore {
 public:
  void set(const ClusterObject& object);
  void remove(const ClusterObject& object);

  const ObjectsByName<PersistentVolume>& volumes() const { return maps_.volumes; }
  const ObjectsByName<PersistentVolumeClaim>& claims() const { return maps_.claims; }
  const ObjectsByName<StorageClass>& storage_classes() const { return maps_.storage_classes; }
  const ObjectsByName<CsiNode>& csi_nodes() const { return maps_.csi_nodes; }
  const ObjectsByName<CsiDriver>& csi_drivers() const { return maps_.csi_drivers; }
  const ObjectsByName<CsiStorageCapacity>& capacities() const { return maps_.capacities; }
  const ObjectsByName<VolumeAttachment>& attachments() const { return maps_.attachments; }
  const ObjectsByName<Namespace>& namespaces() const { return maps_.namespaces; }
  const ObjectsByName<PodController>& controllers() const {
    return maps_.controllers;
  }  // "0/ns/name": by kind
  const ObjectsByName<PodDisruptionBudget>& budgets() const { return maps_.budgets; }
  const ObjectsByName<PriorityClass>& priority_classes() const { return maps_.priority_classes; }

  const ObjectsByName<AppGroup>& app_groups() const { return maps_.app_groups; }
  const ObjectsByName<NetworkTopology>& network_topologies() const { return maps_.topologies; }

  // Grows with every change of anything.
  std::uint64_t version() const { return version_; }
  // Grows with every change of an AppGroup or a NetworkTopology.
  std::uint64_t network_version() const { return network_version_; }

  // Null: no such object.
  const PersistentVolume* volume(std::string_view name) const;
  const PersistentVolumeClaim* claim(std::string_view name_space, std::string_view name) const;
  const StorageClass* storage_class(std::string_view name) const;
  const CsiNode* csi_node(std::string_view name) const;
  const CsiDriver* csi_driver(std::string_view name) const;
  const PodController* controller(PodController::Kind kind, std::string_view name_space,
                                  std::string_view name) const;
  const AppGroup* app_group(std::string_view name_space, std::string_view name) const;
  const NetworkTopology* network_topology(std::string_view name_space, std::string_view name) const;
  // Promised to claims whose pods are being bound, which no report shows yet.
  void reserve(std::span<const VolumeBinding> bindings, const std::string& node);
  void release(std::span<const VolumeBinding> bindings);
  const ClaimReference* claimed_by(const PersistentVolume& volume) const;      // null: nobody
  const std::string& selected_node(const PersistentVolumeClaim& claim) const;  // empty: none yet
  // Empty for a namespace nobody told of.
  const Labels& namespace_labels(std::string_view name) const;

 private:
  void note(const ClusterObject& object);
  struct Maps {
    ObjectsByName<PersistentVolume> volumes;
    ObjectsByName<PersistentVolumeClaim> claims;
    ObjectsByName<StorageClass> storage_classes;
    ObjectsByName<CsiNode> csi_nodes;
    ObjectsByName<CsiDriver> csi_drivers;
    ObjectsByName<CsiStorageCapacity> capacities;
    ObjectsByName<VolumeAttachment> attachments;
    ObjectsByName<Namespace> namespaces;
    ObjectsByName<PodController> controllers;
    ObjectsByName<PodDisruptionBudget> budgets;
    ObjectsByName<PriorityClass> priority_classes;
    ObjectsByName<AppGroup> app_groups;
    ObjectsByName<NetworkTopology> topologies;
  };
  Maps maps_;
  std::map<std::string, ClaimReference, std::less<>> promised_;  // by volume
  std::map<std::string, std::string, std::less<>> selected_;     // node, by "namespace/claim"
  std::uint64_t version_ = 0, network_version_ = 0;
};

}  // namespace evenkeel
