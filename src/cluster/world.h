#pragma once
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "cluster/node.h"
#include "cluster/objects.h"
#include "cluster/pod.h"

namespace evenkeel {

// Facts, in.
struct NodeAdded {
  Node node;
};
struct NodeUpdated {
  Node node;
};
struct NodeRemoved {
  NodeId node;
};
// A pod that waits for a node.
struct PodAdded {
  Pod pod;
};
// A pod first seen when it already had one: before our start, or placed by someone else.
struct PodFound {
  Pod pod;
  NodeId node;
};
// A pod's labels, gates, priority, nomination or end in sight changed; where it runs did not.
struct PodUpdated {
  Pod pod;
};
struct PodBound {
  PodId pod;
  NodeId node;
};
struct PodStarted {
  PodId pod;
  std::optional<Time> at{};  // where it ran already when it was found; else now
};
enum class PodEnd { completed, failed, evicted, deleted };
struct PodGone {
  PodId pod;
  PodEnd how = PodEnd::deleted;
};
struct BindFailed {
  PodId pod;
  std::string why;
};
// An eviction that was refused or came to nothing: the pod stays where it is.
struct EvictFailed {
  PodId pod;
  std::string why;
};
struct PodUsage {
  PodId pod;
  Usage usage;
};
// One node's sample. Covers the pods that `pods` names; valid during observe() only.
struct UsageReported {
  NodeId node;
  Time measured{};
  Usage total;
  std::span<const PodUsage> pods;
  // See NodeReport: what is not known counts as expected, never as nothing.
  KnownDimensions known = kAllKnown, pods_known = kAllKnown;
  Duration over{};
};
// What a workload's earlier pods used, from a store that outlives them.
struct WorkloadSample {
  WorkloadId workload;
  Time measured{};
  Usage usage;
};
// A volume, claim, namespace, budget, … is there now, or looks different.
struct ObjectSet {
  ClusterObject object;
};
// Its kind and name count, nothing else.
struct ObjectGone {
  ClusterObject object;
};
using ClusterEvent =
    std::variant<NodeAdded, NodeUpdated, NodeRemoved, PodAdded, PodFound, PodBound, PodStarted, PodGone,
                 BindFailed, UsageReported, WorkloadSample, PodUpdated, ObjectSet, ObjectGone, EvictFailed>;

// Decisions, out.
struct BindPod {
  PodId pod;
  NodeId node;
  std::vector<VolumeBinding> volumes{};  // to be bound, or asked for, first
};
struct MarkUnschedulable {
  PodId pod;
  std::string why;
  bool drops_nomination = false;  // what its status.nominatedNodeName says no longer holds
};
// Ends the pod where it runs; its controller makes another. A move keeps `destination` free for that one; a
// pod that only has to leave is decided about anew.
struct EvictPod {
  PodId pod;
  std::optional<NodeId> destination;
  std::string why;
  bool proposed = false;  // only said, for people: nobody is to act on it
  double gain = 0;        // of a move: imbalance (DRS eq. 13) times seconds
};
// Ends pods of lower priority so that this one fits; the node is kept for it until it is bound.
struct PreemptPods {
  PodId pod;
  NodeId node;
  std::vector<PodId> victims;  // the most important first
  std::string why;
};
using Action = std::variant<BindPod, MarkUnschedulable, EvictPod, PreemptPods>;

// Where decisions meet reality: simulated or Kubernetes.
class World {
 public:
  virtual ~World() = default;
  virtual Time now() const = 0;
  // Blocks until something happens or the deadline passes; nothing means shutdown.
  // The events stay valid until the next call.
  virtual std::optional<std::span<const ClusterEvent>> wait_for_events(Time deadline) = 0;
  // Never blocks and never fails here: the outcome comes back as an event.
  virtual void execute(const Action& action) = 0;
  // As much is under way as makes sense: what is decided now would only wait in line, and had better be
  // decided later, knowing more. wait_for_events() returns when that has changed.
  virtual bool is_full() const { return false; }
};

}  // namespace evenkeel
