#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "prediction/history_options.h"
#include "scheduling/group_plan.h"
#include "scheduling/profile.h"

namespace evenkeel::scheduling {

enum class KubeVersion { v1_23, v1_36 };  // which BalancedAllocation
enum class QueueOrder { arrival, shortest_first };

// Counting by use: a node is full when what its pods are expected to use, plus `risk`
// standard deviations, reaches `ceiling` of what it can do in any dimension; requests
// are not looked at. Off: requests count, as in Kubernetes.
struct CountByUse {
  bool on = false;
  double risk = 1.0;
  double ceiling = 1.0;
};

// At most ceil(free cores) + `spare` pods run on a node at once; the rest wait in line.
// For finite tasks a short queue in front beats a long one behind (LRT of PPO-LRT).
struct HoldBack {
  bool on = false;
  int spare = 1;
  double memory_ceiling = 0.9;  // of the node, by expected use
};

// Order by run time and hold-back for those that ask for it alone: pods with this label set to this value. Of
// equal priority the others go first, in order of arrival, and are never held back.
struct OrderOptIn {
  bool on = false;  // off: the policy's order is everybody's
  std::string label = "evenkeel.io/order", value = "shortest-first";
};

// Whom no move may touch, beside those who say so themselves (cluster/pod.h: MoveBar). Off where no API
// server is behind: pods of a simulation have no owners to respect.
struct MoveRules {
  bool on = false;
  std::vector<std::string> spared_namespaces{"kube-system"};
  std::int32_t spared_priority = 1'000'000'000;  // this and above: the system's own
  bool single_replicas = false;                  // may be moved, though nobody serves meanwhile
  bool local_storage = false;                    // emptyDirs may be lost
};

struct MoveBudget {
  double per_hour = 0;                           // 0: never move
  double per_day = 0;                            // 0: ten times per_hour
  Duration every{std::chrono::seconds{5}};       // how often to look
  Duration cool_down{std::chrono::minutes{10}};  // per workload
  // A gain is imbalance times seconds, later ones counting less by exp(-t / foresight).
  Duration foresight{std::chrono::seconds{60}};
  double least_gain = 3e-4;  // of imbalance: below that a move is never worth it
  bool dry_run = false;      // moves are proposed, counted and not made
  MoveRules rules{};
};

// Pods of one AppGroup that wait together are planned as a whole (group_plan.h) and bound one right after the
// other. One objective: what edges cost, in the topology's units, plus `load_weight` times the share of its
// node that is taken (the mean of CPU and memory, the larger of requested and used), for each pod.
struct JointPlacement {
  bool on = false;
  std::uint64_t budget = GroupPlanOptions::kTenMilliseconds;
  double load_weight = 0.5;                 // a full node costs as much as half a step to the next node
  Duration keep{std::chrono::seconds{30}};  // how long a planned place is kept for a pod that does not come
  std::size_t most_pods = 256;              // planned at once; gangs are never cut
};

struct SchedulingOptions {
  KubeVersion kube = KubeVersion::v1_36;
  QueueOrder order = QueueOrder::arrival;
  CountByUse by_use;
  HoldBack hold_back;
  OrderOptIn order_opt_in;
  MoveBudget moves;
  JointPlacement joint;
  bool frozen = false;  // learned policies neither learn on nor explore
  Duration horizon{std::chrono::seconds{60}};
  // A node's sample older than this is not believed: its pods count by their workloads' pasts instead. Where
  // profiles differ, the shortest counts.
  Duration stale_after{std::chrono::seconds{90}};
  prediction::HistoryOptions history;  // the first profile's
  Profile profile;
  Duration longest_wait{std::chrono::minutes{30}};  // shortest-first lets nobody wait longer
};

// The pods that name this scheduler are placed by these options.
struct SchedulerProfile {
  std::string scheduler_name;
  SchedulingOptions options;
};

// One queue for all profiles. How long a pod waits after it failed, as KubeSchedulerConfiguration has it.
struct QueueOptions {
  Duration first_backoff{std::chrono::seconds{1}};     // podInitialBackoffSeconds; doubled with each attempt
  Duration longest_backoff{std::chrono::seconds{10}};  // podMaxBackoffSeconds
  Duration longest_parked{std::chrono::minutes{5}};    // whatever hints say, nobody is forgotten

  Duration backoff(std::uint32_t attempts) const {
    Duration wait = first_backoff;
    for (std::uint32_t i = 1; i < attempts && wait < longest_backoff; ++i) wait *= 2;
    return std::min(wait, longest_backoff);
  }
};

}  // namespace evenkeel::scheduling
