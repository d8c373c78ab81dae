// A scheduler on a desk: told facts one at a time, asked what it wants, and answered.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "cluster/test_objects.h"
#include "scheduling/scheduler.h"

namespace evenkeel::scheduling {

inline PodSpec spec_of(std::int64_t milli_cpu, std::int32_t priority = 0) {
  PodSpec spec = spec_asking(milli_cpu, 0);
  spec.priority = priority;
  return spec;
}

// A scheduler that is told facts one at a time; every question is answered with its first feasible node.
class TestDesk {
 public:
  explicit TestDesk(std::uint32_t nodes, SchedulingOptions options = {}) : scheduler(options) {
    for (std::uint32_t slot = 0; slot < nodes; ++slot) tell(NodeAdded{test_node(slot)});
  }
  void tell(const ClusterEvent& event) { scheduler.observe(event, now); }
  PodId add(PodSpec spec) { return add(test_shape(std::move(spec))); }
  PodId add(std::shared_ptr<const PodTemplate> shape) {
    const PodId id{next_slot_++, 1};
    tell(PodAdded{test_pod(id, std::move(shape))});
    return id;
  }
  PodId add_running(NodeId node, PodSpec spec) { return add_running(node, test_shape(std::move(spec))); }
  PodId add_running(NodeId node, std::shared_ptr<const PodTemplate> shape) {
    const PodId id{next_slot_++, 1};
    tell(PodFound{test_pod(id, std::move(shape)), node});
    return id;
  }
  Pod pod(PodId id) { return scheduler.cluster().pod(id)->pod; }
  // What it wants now: "bind 3 to 0", "mark 3", "preempt for 3 on 0: 1 2"; empty: nothing.
  std::string step() {
    const Next next = scheduler.next(now);
    if (const auto* request = std::get_if<PlacementRequest>(&next)) {
      NodeId node{0};
      while (!request->feasible[node.slot]) ++node.slot;
      const PodId id = request->pod.id;
      scheduler.commit(*request, node);
      return "bind " + std::to_string(id.slot) + " to " + std::to_string(node.slot);
    }
    const auto* action = std::get_if<Action>(&next);
    if (!action) return "";
    if (const auto* mark = std::get_if<MarkUnschedulable>(action)) {
      why = mark->why;
      return "mark " + std::to_string(mark->pod.slot) + (mark->drops_nomination ? ", promise dropped" : "");
    }
    const auto& preempt = std::get<PreemptPods>(*action);
    std::string text =
        "preempt for " + std::to_string(preempt.pod.slot) + " on " + std::to_string(preempt.node.slot) + ":";
    for (const PodId victim : preempt.victims) text += " " + std::to_string(victim.slot);
    return text;
  }
  std::string steps() {
    std::string all;
    for (std::string one = step(); !one.empty(); one = step()) all += (all.empty() ? "" : "; ") + one;
    return all;
  }
  PodPlace place(PodId id) const { return scheduler.cluster().pod(id)->place; }

  Scheduler scheduler;
  Time now = Time{} + std::chrono::hours{1};
  std::string why;

 private:
  std::uint32_t next_slot_ = 0;
};

}  // namespace evenkeel::scheduling
