#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "cluster/ids.h"
#include "cluster/labels.h"
#include "cluster/node.h"
#include "cluster/node_selector.h"
#include "cluster/objects.h"
#include "cluster/owner_reference.h"
#include "cluster/resources.h"
#include "cluster/volumes.h"

namespace evenkeel {

struct ContainerPort {
  std::int32_t host_port = 0;  // 0: none
  std::string protocol = "TCP";
  std::string host_ip;  // empty: all addresses
  bool operator==(const ContainerPort&) const = default;
};

struct Container {
  std::string name, image;
  Resources requests, limits;
  std::vector<ContainerPort> ports;
  bool restarts_always = false;  // an init container that is a sidecar
  // The requests name it and say 0, which is not the same as saying nothing (NonZeroRequest).
  bool zero_cpu = false, zero_memory = false;
  bool restarts_all = false;  // a restart policy rule with action RestartAllContainers
  // status.containerStatuses[].allocatedResources and .resources.requests, where reported: while a
  // container is being resized the larger of these and the requests counts on its node.
  std::optional<Resources> allocated, actual;
  bool status_names_cpu = false, status_names_memory = false;  // one of the two does, be it with 0
  bool operator==(const Container&) const = default;
};

struct Toleration {
  enum class Operator { equal, exists };
  std::string key;  // empty with exists: every key
  Operator op = Operator::equal;
  std::string value;
  std::optional<TaintEffect> effect;  // none: every effect
  std::optional<std::int64_t> seconds;
  bool operator==(const Toleration&) const = default;
};

struct PreferredNodeTerm {
  std::int32_t weight = 1;
  NodeSelectorTerm term;
  bool operator==(const PreferredNodeTerm&) const = default;
};

struct NodeAffinity {
  std::optional<std::vector<NodeSelectorTerm>> required;  // any of them
  std::vector<PreferredNodeTerm> preferred;
  bool operator==(const NodeAffinity&) const = default;
};

struct PodAffinityTerm {
  std::optional<LabelSelector> selector;
  std::vector<std::string> namespaces;
  std::optional<LabelSelector> namespace_selector;
  std::string topology_key;
  std::vector<std::string> match_label_keys, mismatch_label_keys;
  bool operator==(const PodAffinityTerm&) const = default;
};

struct PreferredPodTerm {
  std::int32_t weight = 1;
  PodAffinityTerm term;
  bool operator==(const PreferredPodTerm&) const = default;
};

struct PodAffinity {
  std::vector<PodAffinityTerm> required;
  std::vector<PreferredPodTerm> preferred;
  bool empty() const { return required.empty() && preferred.empty(); }
  bool operator==(const PodAffinity&) const = default;
};

struct TopologySpreadConstraint {
  std::int32_t max_skew = 1;
  std::string topology_key;
  bool do_not_schedule = true;  // false: ScheduleAnyway
  std::optional<LabelSelector> selector;
  std::optional<std::int32_t> min_domains;
  bool honor_node_affinity = true, honor_node_taints = false;
  std::vector<std::string> match_label_keys;
  bool operator==(const TopologySpreadConstraint&) const = default;
};

// spec.resources.requests; what it does not name is summed from the containers.
struct PodLevelRequests {
  std::optional<MilliCpu> cpu;
  std::optional<Bytes> memory;
  std::vector<ExtendedResource> huge_pages;  // hugepages-*
  bool operator==(const PodLevelRequests&) const = default;
};

// What of a PodSpec a scheduler looks at, in the API's own terms.
struct PodSpec {
  std::vector<Container> init_containers, containers;
  std::optional<PodLevelRequests> pod_level_requests;
  Resources overhead;
  Labels node_selector;
  NodeAffinity node_affinity;
  PodAffinity pod_affinity, pod_anti_affinity;
  std::vector<Toleration> tolerations;
  std::vector<TopologySpreadConstraint> spread;
  std::vector<std::string> scheduling_gates;
  std::vector<PodVolume> volumes;
  std::vector<std::string> resource_claims;  // names in spec.resourceClaims
  std::string node_name;                     // asked for by name, bypassing the choice
  std::string scheduler_name = "default-scheduler";
  std::int32_t priority = 0;
  PreemptionPolicy preemption = PreemptionPolicy::lower_priority;
  bool host_network = false;
  bool resize_infeasible = false;  // condition PodResizePending with reason Infeasible
  bool user_namespace = false;     // hostUsers: false
  bool operator==(const PodSpec&) const = default;
};

// max(init containers, containers + sidecars) + overhead, sidecars counting from where
// they start; pod-level requests replace the sum where given (resource.PodRequests).
Resources effective_request(const PodSpec& spec);
Resources effective_limit(const PodSpec& spec);

// The same with 100m and 200Mi for every container that asks for nothing, which is
// what kube-scheduler scores (never filters) best-effort pods by.
struct NonZeroRequest {
  MilliCpu cpu;
  Bytes memory;
};
NonZeroRequest non_zero_request(const PodSpec& spec);
// What an incoming pod is scored by: the defaults apply to every container, even where the pod asks as a
// whole.
NonZeroRequest scored_request(const PodSpec& spec);

// Features a node must declare before the pod may go there.
std::vector<std::string_view> required_features(const PodSpec& spec);

enum class QosClass { guaranteed, burstable, best_effort };
QosClass qos_class(const PodSpec& spec);

// Whether the pod asks for nothing but resources: any node that has them will do. Most do,
// and are spared the questions that only others need to be asked.
bool is_plain(const PodSpec& spec);

// Everything the pods of one controller have in common, stored once however many
// there are, with what is derived from it worked out once.
class PodTemplate {
 public:
  PodTemplate(std::string name_space, Labels labels, std::vector<OwnerReference> owners, WorkloadId workload,
              PodSpec spec);

  const std::string name_space;
  const Labels labels;
  const std::vector<OwnerReference> owners;
  const WorkloadId workload;
  const PodSpec spec;

  const Resources request, limit;
  const NonZeroRequest non_zero, scored;
  const QosClass qos;
  const bool plain;
  const std::size_t kind_hash;                // of namespace and labels
  const std::string app_group, app_workload;  // the values of kAppGroupLabel, kAppWorkloadLabel; empty: none
  const std::size_t rule_hash;                // of namespace and rules about other pods; 0: has none
};

enum class PodPhase { pending, running, succeeded, failed };

// Why a pod must stay where it runs, as it says so itself.
enum class MoveBar : std::uint8_t {
  none,
  asked_not_to,   // annotation evenkeel.io/move: never
  not_safe,       // annotation cluster-autoscaler.kubernetes.io/safe-to-evict: false
  mirror,         // of a static pod: the kubelet runs it whatever is done to the object
  host_path,      // what it keeps there is there alone
  local_storage,  // an emptyDir that nobody called safe to lose
};

struct Pod {
  PodId id;
  std::string name;
  std::shared_ptr<const PodTemplate> shape;  // shared by value: immutable, so as good as a copy
  Time created{};
  PodPhase phase = PodPhase::pending;
  std::string uid{};
  std::string nominated_node{};   // status.nominatedNodeName
  bool terminating = false;       // has a deletionTimestamp
  std::optional<Time> started{};  // status.startTime
  bool disrupted_by_us = false;   // condition DisruptionTarget with reason PreemptionByScheduler
  MoveBar bar = MoveBar::none;

  const PodSpec& spec() const { return shape->spec; }
  std::string full_name() const { return shape->name_space + "/" + name; }
};

}  // namespace evenkeel
