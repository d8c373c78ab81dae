#include "kubernetes/read_object.h"

#include <algorithm>

#include "kubernetes/read_common.h"
#include "kubernetes/read_network.h"
#include "kubernetes/read_node.h"
#include "kubernetes/read_pod.h"
#include "kubernetes/read_storage.h"

namespace evenkeel::kubernetes {
namespace {

std::string or_default(const std::string& name_space) { return name_space.empty() ? "default" : name_space; }

// The API server labels every namespace with its name.
Namespace read_namespace(const JsonField& object) {
  Metadata metadata = read_metadata(object);
  metadata.labels.set("kubernetes.io/metadata.name", metadata.name);
  return {metadata.name, metadata.labels};
}

PodController read_controller(const JsonField& object, PodController::Kind kind) {
  const Metadata metadata = read_metadata(object);
  const JsonField selector = object.at("spec").at("selector");
  const bool by_equality =
      kind == PodController::Kind::service || kind == PodController::Kind::replication_controller;
  return {kind, or_default(metadata.name_space), metadata.name,
          by_equality ? read_equality_selector(selector) : read_selector(selector)};
}

PodDisruptionBudget read_budget(const JsonField& object) {
  const Metadata metadata = read_metadata(object);
  PodDisruptionBudget budget;
  budget.name_space = or_default(metadata.name_space);
  budget.name = metadata.name;
  budget.selector = read_selector(object.at("spec").at("selector"));
  const JsonField status = object.at("status");
  budget.disruptions_allowed = status.int32_at("disruptionsAllowed");
  for (const auto& [pod, when] : status.at("disruptedPods").entries())
    budget.disrupted_pods.emplace_back(pod);
  std::sort(budget.disrupted_pods.begin(), budget.disrupted_pods.end());
  return budget;
}

PriorityClass read_priority_class(const JsonField& object) {
  PriorityClass priority;
  priority.name = read_metadata(object).name;
  priority.value = object.int32_at("value");
  priority.global_default = object.flag_at("globalDefault");
  priority.preemption = object.choice_at("preemptionPolicy",
                                         {std::pair<std::string_view, PreemptionPolicy>{
                                              "PreemptLowerPriority", PreemptionPolicy::lower_priority},
                                          {"Never", PreemptionPolicy::never}},
                                         PreemptionPolicy::lower_priority);
  return priority;
}

template <PodController::Kind kKind>
ApiObject controller(const JsonField& object) {
  return ClusterObject{read_controller(object, kKind)};
}
template <auto kRead>
ApiObject cluster_object(const JsonField& object) {
  return ClusterObject{kRead(object)};
}
template <auto kRead>
ApiObject plain(const JsonField& object) {
  return kRead(object);
}

struct Kind {
  std::string_view name, group;  // of apiVersion: "" for v1
  ApiObject (*read)(const JsonField&);
};
constexpr Kind kKinds[] = {
    {"Node", "", plain<read_node>},
    {"Pod", "", plain<read_pod>},
    {"Namespace", "", cluster_object<read_namespace>},
    {"Service", "", controller<PodController::Kind::service>},
    {"ReplicationController", "", controller<PodController::Kind::replication_controller>},
    {"ReplicaSet", "apps", controller<PodController::Kind::replica_set>},
    {"StatefulSet", "apps", controller<PodController::Kind::stateful_set>},
    {"PersistentVolume", "", cluster_object<read_persistent_volume>},
    {"PersistentVolumeClaim", "", cluster_object<read_persistent_volume_claim>},
    {"StorageClass", "storage.k8s.io", cluster_object<read_storage_class>},
    {"CSINode", "storage.k8s.io", cluster_object<read_csi_node>},
    {"CSIDriver", "storage.k8s.io", cluster_object<read_csi_driver>},
    {"CSIStorageCapacity", "storage.k8s.io", cluster_object<read_csi_storage_capacity>},
    {"VolumeAttachment", "storage.k8s.io", cluster_object<read_volume_attachment>},
    {"PodDisruptionBudget", "policy", cluster_object<read_budget>},
    {"PriorityClass", "scheduling.k8s.io", cluster_object<read_priority_class>},
    {"AppGroup", "appgroup.diktyo.x-k8s.io", cluster_object<read_app_group>},
    {"NetworkTopology", "networktopology.diktyo.x-k8s.io", cluster_object<read_network_topology>},
    {"NodeMetrics", "metrics.k8s.io", plain<read_node_metrics>},
};

std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? "" : api_version.substr(0, slash);
}

// "Pod default/web-1", as far as the object says.
std::string name_of(const JsonField& object, const std::string& kind) {
  const std::string name_space = object.at("metadata").text_at("namespace");
  const std::string name = object.at("metadata").text_at("name");
  if (name.empty()) return kind + " without a name";
  return kind + " " + (name_space.empty() ? "" : name_space + "/") + name;
}

}  // namespace

Result<std::optional<ApiObject>> read_object(JsonValue value, std::string_view kind,
                                             std::string_view api_version) {
  JsonReading head("object");
  const JsonField own(head, value);
  if (!own.is_map()) return invalid("expected an object of the API, found " + describe(value));
  const std::string own_kind = own.text_at("kind", kind);
  const std::string own_version = own.text_at("apiVersion", api_version);
  if (own_kind.empty() || head.error()) {
    const std::string subject = name_of(own, "object");
    return head.error() ? *head.error() : invalid(subject + ": kind: expected text, found nothing");
  }
  for (const Kind& known : kKinds) {
    if (own_kind != known.name || group_of(own_version) != known.group) continue;
    JsonReading reading(name_of(own, own_kind));
    if (head.error()) return *head.error();
    ApiObject object = known.read(JsonField(reading, value));
    if (reading.error()) return *reading.error();
    return std::optional(std::move(object));
  }
  return std::optional<ApiObject>{};
}

}  // namespace evenkeel::kubernetes
