// scheduler_perf's clusters and pods, for `evenkeel bench shapes`: what its templates say, and what happens
// meanwhile, told to a scheduler that has neither an API server nor a network between it and the facts.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "scheduling/policies/policy.h"
#include "scheduling/scheduler.h"

namespace evenkeel::apps {

using ShapePtr = std::shared_ptr<const PodTemplate>;

// What this thread has used of a core: a busy machine does not make it more.
double core_seconds();

// scheduler_perf's pod-default.yaml, changed as asked.
ShapePtr perf_pod(const std::function<void(PodSpec&)>& change = {}, Labels labels = {},
                  std::vector<OwnerReference> owners = {});

// Nodes of 4 cores and 32 GiB in three zones, under the default profile.
class ShapedCluster {
 public:
  explicit ShapedCluster(std::size_t nodes);

  void add_running(const ShapePtr& shape, std::size_t count);  // over all nodes in turn
  PodId add_running_on(const ShapePtr& shape, NodeId node);
  PodId add(const ShapePtr& shape);  // a pod that waits
  void end(PodId pod);               // it is gone
  void tell(const ClusterEvent& event) { scheduler_.observe(event, now_); }
  Node node(std::uint32_t slot) const;

  // Decides until nothing is left to decide: binds are confirmed, victims end. Returns the pods placed.
  std::size_t settle();

  void pass(Duration time) { now_ += time; }
  const scheduling::Scheduler& scheduler() const { return scheduler_; }
  std::size_t nodes() const { return nodes_; }
  const std::vector<double>& decision_us() const {
    return decision_us_;
  }  // of every question since the start
  void forget_times() { decision_us_.clear(); }

 private:
  PodId next_id();

  scheduling::Scheduler scheduler_;
  std::unique_ptr<scheduling::PlacementPolicy> policy_;
  Random random_{7};
  Time now_{};
  std::size_t nodes_, next_node_ = 0;
  std::uint32_t pods_ = 0;
  std::vector<PodId> free_;
  std::vector<double> decision_us_;
};

// One of the shapes: what stands before the clock starts, and what is done for the i-th pod that is measured.
struct PerfShape {
  std::string name, about;
  double floor = 0;  // scheduler_perf's own, pods per second; 0: it has none
  std::size_t pods = 0;
  std::function<void(ShapedCluster&)> prepare;
  std::function<void(ShapedCluster&, std::size_t i)> turn;
};
std::vector<PerfShape> perf_shapes();

}  // namespace evenkeel::apps
