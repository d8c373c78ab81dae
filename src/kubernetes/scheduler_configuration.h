// kube-scheduler's own configuration file: KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1, read
// as kube-scheduler 1.36 reads it. Defaults are filled in, multiPoint is expanded, unknown fields are errors.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cluster/pod.h"
#include "kubernetes/json_field.h"

namespace evenkeel::kubernetes {

struct EnabledPlugin {
  std::string name;
  std::int32_t weight = 0;  // of a score; never 0 there
  bool operator==(const EnabledPlugin&) const = default;
};

enum class ScoringStrategy { least_allocated, most_allocated, requested_to_capacity_ratio };
struct ResourceWeight {
  std::string name;
  std::int64_t weight = 1;
  bool operator==(const ResourceWeight&) const = default;
};
struct ShapePoint {
  std::int32_t utilization = 0, score = 0;  // 0 to 100, 0 to 10
  bool operator==(const ShapePoint&) const = default;
};

struct FitArguments {
  std::vector<std::string> ignored_resources, ignored_groups;
  ScoringStrategy strategy = ScoringStrategy::least_allocated;
  std::vector<ResourceWeight> resources{{"cpu", 1}, {"memory", 1}};
  std::vector<ShapePoint> shape;
};
struct BalancedArguments {
  std::vector<ResourceWeight> resources{{"cpu", 1}, {"memory", 1}};
};
struct SpreadArguments {
  bool system_defaults = true;                        // else the list below
  std::vector<TopologySpreadConstraint> constraints;  // without selectors
};
struct InterPodArguments {
  std::int32_t hard_weight = 1;
  bool ignore_preferred_of_existing = false;
};
struct PreemptionArguments {
  std::int32_t candidates_percent = 10, candidates_at_least = 100;
};
// How a policy that learns does so on the cluster it places on.
struct LearningArguments {
  bool online = false;
  double explore = 0.02;  // share of decisions
  std::vector<std::string> never_explore_namespaces;
  std::optional<std::int32_t> never_explore_priority;  // and above
  Duration reward_after{std::chrono::seconds{5}};
};
// How a learned policy is watched over, and how far it may go where no ConfigMap says so.
struct GuardArguments {
  std::string stage = "full";
  double share = 0.1;
  std::vector<std::string> namespaces;
  Duration stale_after{std::chrono::seconds{30}};
};
// The rebalancer inside the scheduler; without `moves`, or with perHour 0, it never moves anything.
struct MoveArguments {
  double per_hour = 0, per_day = 0;
  bool dry_run = false;
  Duration cool_down{std::chrono::minutes{10}};
  std::vector<std::string> spared_namespaces{"kube-system"};
  std::int32_t spared_priority = 1'000'000'000;
  bool single_replicas = false, local_storage = false;
};
struct EvenkeelArguments {
  std::string policy = "evenkeel", model;
  GuardArguments guard;
  MoveArguments moves;
  LearningArguments learning;
};

// Of NetworkOverhead and whatever else looks at the network, with upstream's defaults.
struct NetworkArguments {
  std::vector<std::string> namespaces{"default"};
  std::string weights_name = "UserDefined", topology_name = "nt-default";
  bool given = false;
  bool operator==(const NetworkArguments&) const = default;
};

struct SchedulerProfile {
  std::string scheduler_name = "default-scheduler";
  std::optional<std::int32_t> percentage_of_nodes_to_score;
  // What runs at each point, in order.
  std::vector<EnabledPlugin> pre_enqueue, queue_sort, pre_filter, filter, post_filter, score, bind;

  FitArguments fit;
  BalancedArguments balanced;
  SpreadArguments spread;
  InterPodArguments inter_pod;
  std::optional<NodeAffinity> added_affinity;
  PreemptionArguments preemption;
  Duration volume_bind_timeout{std::chrono::seconds{600}};
  EvenkeelArguments evenkeel;
  NetworkArguments network;
  std::vector<std::string> sort_namespaces{"default"};  // TopologicalSort's
};

struct LeaderElection {
  bool elect = true;
  Duration lease{std::chrono::seconds{15}}, renew_deadline{std::chrono::seconds{10}},
      retry_period{std::chrono::seconds{2}};
  std::string resource_lock = "leases", name = "kube-scheduler", name_space = "kube-system";
};

struct ClientConnection {
  std::string kubeconfig;
  double qps = 50;
  std::int32_t burst = 100;
  bool is_limited = false;  // the file says so itself; kube-scheduler keeps to its defaults else
};

struct SchedulerConfiguration {
  std::int32_t parallelism = 16;
  std::optional<std::int32_t> percentage_of_nodes_to_score;
  std::int64_t initial_backoff_s = 1, max_backoff_s = 10;
  LeaderElection leader_election;
  ClientConnection client;
  std::vector<SchedulerProfile> profiles;  // at least one
};

// YAML or JSON. The default profile alone is what an empty configuration gives.
Result<SchedulerConfiguration> read_scheduler_configuration(std::string_view text, const std::string& name);
Result<SchedulerConfiguration> read_scheduler_configuration(JsonValue root, const std::string& name);
SchedulerProfile default_profile();

}  // namespace evenkeel::kubernetes
