#include "kubernetes/resource_type.h"

#include "kubernetes/http_url.h"
#include "kubernetes/protobuf_json.h"

namespace evenkeel::kubernetes {

std::string ResourceType::collection(std::string_view name_space) const {
  // The oldest group has no name.
  const bool is_core = api_version.find('/') == std::string::npos;
  std::string path = (is_core ? "/api/" : "/apis/") + api_version;
  if (is_namespaced && !name_space.empty()) path += "/namespaces/" + percent_encoded(name_space);
  return path + "/" + plural;
}

std::string ResourceType::object(std::string_view name_space, std::string_view name,
                                 std::string_view subresource) const {
  std::string path = collection(name_space) + "/" + percent_encoded(name);
  if (!subresource.empty()) path += "/" + std::string(subresource);
  return path;
}

WireFormat ResourceType::best_format() const {
  return has_protobuf_form(api_version, kind) ? WireFormat::protobuf : WireFormat::json;
}

namespace types {

ResourceType pods() { return {"v1", "Pod", "pods"}; }
ResourceType nodes() { return {"v1", "Node", "nodes", false}; }
ResourceType namespaces() { return {"v1", "Namespace", "namespaces", false}; }
ResourceType services() { return {"v1", "Service", "services"}; }
ResourceType replication_controllers() { return {"v1", "ReplicationController", "replicationcontrollers"}; }
ResourceType persistent_volumes() { return {"v1", "PersistentVolume", "persistentvolumes", false}; }
ResourceType persistent_volume_claims() { return {"v1", "PersistentVolumeClaim", "persistentvolumeclaims"}; }
ResourceType events() { return {"v1", "Event", "events"}; }
ResourceType replica_sets() { return {"apps/v1", "ReplicaSet", "replicasets"}; }
ResourceType stateful_sets() { return {"apps/v1", "StatefulSet", "statefulsets"}; }
ResourceType storage_classes() { return {"storage.k8s.io/v1", "StorageClass", "storageclasses", false}; }
ResourceType csi_nodes() { return {"storage.k8s.io/v1", "CSINode", "csinodes", false}; }
ResourceType csi_drivers() { return {"storage.k8s.io/v1", "CSIDriver", "csidrivers", false}; }
ResourceType csi_storage_capacities() {
  return {"storage.k8s.io/v1", "CSIStorageCapacity", "csistoragecapacities"};
}
ResourceType volume_attachments() {
  return {"storage.k8s.io/v1", "VolumeAttachment", "volumeattachments", false};
}
ResourceType pod_disruption_budgets() { return {"policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"}; }
ResourceType priority_classes() {
  return {"scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", false};
}
ResourceType config_maps() { return {"v1", "ConfigMap", "configmaps"}; }
ResourceType app_groups() { return {"appgroup.diktyo.x-k8s.io/v1alpha1", "AppGroup", "appgroups"}; }
ResourceType network_topologies() {
  return {"networktopology.diktyo.x-k8s.io/v1alpha1", "NetworkTopology", "networktopologies"};
}
ResourceType leases() { return {"coordination.k8s.io/v1", "Lease", "leases"}; }

}  // namespace types
}  // namespace evenkeel::kubernetes
