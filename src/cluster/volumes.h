// What the storage side of a cluster says to a scheduler, in the API's own terms. Quantities
// are bytes, names are as the API has them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "cluster/labels.h"
#include "cluster/node_selector.h"
#include "cluster/owner_reference.h"

namespace evenkeel {

// The kinds of storage whose kind matters: for conflicts on one node, or since a CSI driver
// has taken over what used to be inside Kubernetes.
enum class VolumeKind {
  other,
  claim,       // persistentVolumeClaim; pods only
  ephemeral,   // a claim made for the pod, called <pod>-<volume>; pods only
  csi,         // persistent volumes; inline CSI volumes of pods are `other`
  image,       // an OCI image as a volume; pods only
  gce_disk,    // gcePersistentDisk: pdName
  aws_disk,    // awsElasticBlockStore: volumeID
  iscsi,       // iscsi: iqn
  rbd,         // rbd: image
  azure_disk,  // azureDisk: diskURI
  azure_file,
  cinder,     // cinder: volumeID
  vsphere,    // vsphereVolume: volumePath
  portworx,   // portworxVolume: volumeID
  local,      // persistent volumes only
  host_path,  // persistent volumes only
};

struct PodVolume {
  std::string name;
  VolumeKind kind = VolumeKind::other;
  std::string source;  // the claim's name, or what the comments above say; an image's reference
  bool read_only = false;
  std::string pool;                   // rbd
  std::vector<std::string> monitors;  // rbd
  bool operator==(const PodVolume&) const = default;
};

struct ClaimReference {
  std::string name_space, name, uid;
  bool operator==(const ClaimReference&) const = default;
};

enum class VolumePhase { pending, available, bound, released, failed };

struct PersistentVolume {
  std::string name, uid;
  Labels labels;
  Bytes capacity;
  std::vector<std::string> access_modes;
  bool block = false;         // volumeMode: Block
  std::string storage_class;  // spec.storageClassName, or the old annotation where there is one
  std::optional<std::string> attributes_class;
  std::optional<ClaimReference> claim;
  std::optional<std::vector<NodeSelectorTerm>> node_affinity;  // spec.nodeAffinity.required
  VolumeKind kind = VolumeKind::other;
  std::string driver, handle;  // csi: driver and volumeHandle; else handle is the disk's own name
  VolumePhase phase = VolumePhase::available;
  bool deleting = false;  // has a deletionTimestamp
  bool operator==(const PersistentVolume&) const = default;
};

enum class ClaimPhase { pending, bound, lost };

struct PersistentVolumeClaim {
  std::string name_space, name, uid;
  std::string volume;  // spec.volumeName; empty: none yet
  // spec.storageClassName, or the old annotation volume.beta.kubernetes.io/storage-class where
  // there is one. None and "" differ for who fills in defaults, not for scheduling.
  std::optional<std::string> storage_class;
  std::vector<std::string> access_modes;
  Bytes requested;
  std::optional<LabelSelector> selector;
  bool block = false;
  std::optional<std::string> attributes_class;
  ClaimPhase phase = ClaimPhase::pending;
  bool deleting = false;
  bool bind_completed = false;  // annotation pv.kubernetes.io/bind-completed, whatever its value
  std::string selected_node;    // annotation volume.kubernetes.io/selected-node
  std::vector<OwnerReference> owners;
  bool operator==(const PersistentVolumeClaim&) const = default;
};

enum class BindingMode { immediate, wait_for_first_consumer };

struct StorageClass {
  struct TopologyLabel {
    std::string key;
    std::vector<std::string> values;
    bool operator==(const TopologyLabel&) const = default;
  };
  using TopologyTerm = std::vector<TopologyLabel>;  // all must hold

  std::string name, provisioner;
  std::optional<BindingMode> mode;
  std::vector<TopologyTerm> allowed_topologies;  // any of them; none: anywhere
  bool operator==(const StorageClass&) const = default;
};

struct CsiNode {
  struct Driver {
    std::string name;
    std::optional<std::int32_t> limit;  // allocatable.count
    bool operator==(const Driver&) const = default;
  };
  std::string node;  // metadata.name
  std::vector<Driver> drivers;
  std::vector<std::string> migrated_plugins;  // annotation storage.alpha.kubernetes.io/migrated-plugins
  bool operator==(const CsiNode&) const = default;
};

struct CsiDriver {
  std::string name;
  bool tracks_capacity = false;  // spec.storageCapacity
  bool operator==(const CsiDriver&) const = default;
};

struct CsiStorageCapacity {
  std::string name_space, name, storage_class;
  std::optional<LabelSelector> nodes;  // nodeTopology; none: no node
  std::optional<Bytes> capacity, largest_volume;
  bool operator==(const CsiStorageCapacity&) const = default;
};

struct VolumeAttachment {
  std::string name, attacher, node;
  std::optional<std::string> volume;  // spec.source.persistentVolumeName
  bool operator==(const VolumeAttachment&) const = default;
};

// A claim that waited for its first consumer: the volume it gets, or none, when one is to be made for it
// on the pod's node.
struct VolumeBinding {
  std::string name_space, claim, volume;
  bool operator==(const VolumeBinding&) const = default;
};

}  // namespace evenkeel
