// What else of a cluster scheduling looks at, beside nodes and pods: few, seldom changed, and
// found by name.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cluster/app_group.h"
#include "cluster/labels.h"
#include "cluster/network_topology.h"
#include "cluster/volumes.h"

namespace evenkeel {

struct Namespace {
  std::string name;
  Labels labels;
  bool operator==(const Namespace&) const = default;
};

// A Service, ReplicationController, ReplicaSet or StatefulSet: what PodTopologySpread's default
// constraints take their selector from.
struct PodController {
  enum class Kind { service, replication_controller, replica_set, stateful_set };
  Kind kind = Kind::service;
  std::string name_space, name;
  // None: the object has no selector at all. Services and ReplicationControllers have matchLabels
  // (equality) only.
  std::optional<LabelSelector> selector;
  bool operator==(const PodController&) const = default;
};

struct PodDisruptionBudget {
  std::string name_space, name;
  std::optional<LabelSelector> selector;
  std::int32_t disruptions_allowed = 0;     // status.disruptionsAllowed
  std::vector<std::string> disrupted_pods;  // keys of status.disruptedPods, sorted
  bool operator==(const PodDisruptionBudget&) const = default;
};

enum class PreemptionPolicy { lower_priority, never };

struct PriorityClass {
  std::string name;
  std::int32_t value = 0;
  bool global_default = false;
  PreemptionPolicy preemption = PreemptionPolicy::lower_priority;
  bool operator==(const PriorityClass&) const = default;
};

using ClusterObject = std::variant<PersistentVolume, PersistentVolumeClaim, StorageClass, CsiNode, CsiDriver,
                                   CsiStorageCapacity, VolumeAttachment, Namespace, PodController,
                                   PodDisruptionBudget, PriorityClass, AppGroup, NetworkTopology>;

}  // namespace evenkeel
