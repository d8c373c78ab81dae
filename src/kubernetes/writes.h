#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "kubernetes/api_connection.h"
#include "kubernetes/resource_type.h"

namespace evenkeel::kubernetes {

// The requests by which we change a cluster, as values: what is sent can be looked at without a server.
// Answers of which only the code matters are asked for in protobuf, which costs the server least.

struct PodReference {
  std::string name_space, name, uid;
};

struct Annotation {
  std::string key, value;
};

// Binds the pod, and no other of its name: the server answers 409 where the uid differs or a node is set. The
// annotations become the pod's. `body` in protobuf costs the server least.
ApiRequest bind_request(const PodReference& pod, std::string_view node,
                        std::span<const Annotation> annotations = {}, WireFormat body = WireFormat::json);

// Asks to evict; 429 where a PodDisruptionBudget forbids it, which may last: the caller decides when to ask
// again.
ApiRequest evict_request(const PodReference& pod);

ApiRequest create_request(const ResourceType& type, std::string_view name_space, std::string body);
ApiRequest read_request(const ResourceType& type, std::string_view name_space, std::string_view name,
                        WireFormat format);
// The body carries the resourceVersion it was made from; 409 where somebody was quicker.
ApiRequest replace_request(const ResourceType& type, std::string_view name_space, std::string_view name,
                           std::string body);
ApiRequest delete_request(const ResourceType& type, std::string_view name_space, std::string_view name,
                          std::string_view uid);

enum class PatchKind { json, merge, strategic };  // strategic: built-in kinds only
ApiRequest patch_request(const ResourceType& type, std::string_view name_space, std::string_view name,
                         std::string_view subresource, PatchKind kind, std::string body);

// Of a Deployment, StatefulSet or anything else with a scale subresource.
ApiRequest scale_request(const ResourceType& type, std::string_view name_space, std::string_view name,
                         std::int32_t replicas);

struct PodCondition {
  std::string type, status, reason, message;
};
ApiRequest pod_condition_request(const PodReference& pod, const PodCondition& condition, Time now);

// What a scheduler says of a pod in its status.
struct PodStatusChange {
  std::optional<PodCondition> condition;
  bool is_transition = true;                  // the condition's status was another before
  std::optional<std::string> nominated_node;  // status.nominatedNodeName; "" takes it back
};
ApiRequest pod_status_request(const PodReference& pod, const PodStatusChange& change, Time now);

struct LeaseRecord {
  std::string holder;
  std::int32_t duration_seconds = 15;
  Time acquired{}, renewed{};
  std::int32_t transitions = 0;
};
ApiRequest create_lease_request(std::string_view name_space, std::string_view name, const LeaseRecord& lease);
ApiRequest replace_lease_request(std::string_view name_space, std::string_view name,
                                 std::string_view resource_version, const LeaseRecord& lease);

struct EventRecord {
  std::string name;  // unique within the namespace
  std::string kind = "Pod", api_version = "v1";
  PodReference about;
  bool is_warning = false;
  std::string reason, message;
  std::string action = "Binding";
  std::string reporter = "evenkeel", instance;
  std::optional<PodReference> related;  // a pod
};
// An events.k8s.io/v1 Event, as kube-scheduler writes them; kubectl shows both kinds.
ApiRequest event_request(const EventRecord& event, Time now, WireFormat body = WireFormat::json);
// The same happened again: so often in all, last now.
ApiRequest event_series_request(const EventRecord& event, std::int32_t count, Time now);

}  // namespace evenkeel::kubernetes
