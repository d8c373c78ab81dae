#include <time.h>

#include "apps/bench_shapes.h"
#include "scheduling/policies/weighted_scores.h"

namespace evenkeel::apps {

double core_seconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

ShapePtr perf_pod(const std::function<void(PodSpec&)>& change, Labels labels,
                  std::vector<OwnerReference> owners) {
  Container container;
  container.name = "pause";
  container.image = "registry.example/pause:3.10.2";
  container.requests.cpu = {100};
  container.requests.memory = {500LL << 20};
  container.limits = container.requests;
  PodSpec spec;
  spec.containers.push_back(std::move(container));
  if (change) change(spec);
  return std::make_shared<const PodTemplate>("sched-1", std::move(labels), std::move(owners), WorkloadId{},
                                             std::move(spec));
}

ShapedCluster::ShapedCluster(std::size_t nodes)
    : scheduler_(scheduling::SchedulingOptions{}),
      policy_(std::make_unique<scheduling::WeightedScores>()),
      nodes_(nodes) {
  for (std::uint32_t slot = 0; slot < nodes; ++slot) tell(NodeAdded{node(slot)});
}

Node ShapedCluster::node(std::uint32_t slot) const {
  Node node;
  node.id = {slot};
  node.name = "scheduler-perf-" + std::to_string(slot);
  node.allocatable.cpu = {4000};
  node.allocatable.memory = {32LL << 30};
  node.capacity = {{4, 32.0 * (1 << 30), 0, 0, 0, 0}};
  node.labels.set("kubernetes.io/hostname", node.name);
  node.labels.set("topology.kubernetes.io/zone", "zone" + std::to_string(1 + slot % 3));
  node.images.push_back({"registry.example/pause:3.10.2", {319'296}});
  return node;
}

PodId ShapedCluster::next_id() {
  if (free_.empty()) return {pods_++, 1};
  const PodId id{free_.back().slot, free_.back().generation + 1};
  free_.pop_back();
  return id;
}

void ShapedCluster::add_running(const ShapePtr& shape, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    add_running_on(shape, {static_cast<std::uint32_t>(next_node_++ % nodes_)});
}

PodId ShapedCluster::add_running_on(const ShapePtr& shape, NodeId node) {
  Pod pod;
  pod.id = next_id();
  pod.name = "pod-" + std::to_string(pod.id.slot);
  pod.shape = shape;
  pod.phase = PodPhase::running;
  pod.started = pod.created = now_;
  tell(PodFound{pod, node});
  return pod.id;
}

PodId ShapedCluster::add(const ShapePtr& shape) {
  Pod pod;
  pod.id = next_id();
  pod.name = "pod-" + std::to_string(pod.id.slot);
  pod.shape = shape;
  pod.created = now_;
  tell(PodAdded{pod});
  return pod.id;
}

void ShapedCluster::end(PodId pod) {
  tell(PodGone{pod, PodEnd::deleted});
  free_.push_back(pod);
}

std::size_t ShapedCluster::settle() {
  std::size_t placed = 0;
  for (;;) {
    const double from = core_seconds();
    scheduling::Next next = scheduler_.next(now_);
    std::optional<Action> action;
    if (const auto* request = std::get_if<scheduling::PlacementRequest>(&next)) {
      if (const auto chosen = policy_->choose(*request, random_))
        action = scheduler_.commit(*request, *chosen);
    } else if (auto* given = std::get_if<Action>(&next)) {
      action = std::move(*given);
    }
    if (!action) return placed;
    decision_us_.push_back((core_seconds() - from) * 1e6);
    if (const auto* bind = std::get_if<BindPod>(&*action)) {
      tell(PodBound{bind->pod, bind->node});
      ++placed;
    } else if (const auto* preempt = std::get_if<PreemptPods>(&*action)) {
      for (const PodId victim : preempt->victims) end(victim);
    }
  }
}

}  // namespace evenkeel::apps
