// A cluster that tests build up node by node and pod by pod, and the questions asked about it.
#pragma once
#include <string>
#include <vector>

#include "cluster/test_objects.h"
#include "scheduling/filters/filter.h"
#include "scheduling/placement_request.h"

namespace evenkeel::scheduling {

class TestCluster {
 public:
  ClusterState state;
  prediction::WorkloadHistory history;
  RunEstimates runs;
  SchedulingOptions options;
  Time now = Time{} + std::chrono::hours{1};

  TestCluster() = default;
  explicit TestCluster(std::uint32_t nodes) {
    for (std::uint32_t slot = 0; slot < nodes; ++slot) state.set_node(test_node(slot));
  }

  // A pod that runs there already, and uses what it is expected to.
  PodId add_running(NodeId node, std::shared_ptr<const PodTemplate> shape, const Usage& usage = {},
                    double age_s = 0) {
    const Pod pod = test_pod({next_slot_++, 1}, std::move(shape));
    Demand expected;
    expected.mean = usage;
    state.found(pod, node, expected, now);
    state.mark_started(pod.id, now - from_seconds(age_s));
    runs.placed(pod, now - from_seconds(age_s));
    return pod.id;
  }

  // A fresh sample of every node, so that load counts as known.
  void measure(const Usage& base = {}) {
    for (std::uint32_t slot = 0; slot < state.columns().size(); ++slot)
      state.set_base_load({slot}, base, now);
  }

  // One character per node: 1 where the filter lets the pod pass.
  std::string passes(const Filter& filter, const Pod& pod, const Demand& demand = {}) const {
    const FilterInput input{pod, state, demand, options};
    std::vector<std::uint8_t> feasible(state.columns().present);
    if (filter.matters(input)) filter.apply(input, feasible);
    std::string text;
    for (const std::uint8_t flag : feasible) text += static_cast<char>('0' + flag);
    return text;
  }
  std::vector<std::string> objections_of(const Filter& filter, const Pod& pod, NodeId node,
                                         const Demand& demand = {}) const {
    const FilterInput input{pod, state, demand, options};
    return filter.matters(input) ? filter.judge(input, node).reasons : std::vector<std::string>{};
  }

  // The question a scheduler would put; the pod must outlive it. At least one node must do.
  PlacementRequest question(const Pod& pod) { return question(pod, history.demand(pod)); }
  PlacementRequest question(const Pod& pod, const Demand& demand) {
    feasible_.assign(state.columns().present.begin(), state.columns().present.end());
    const FilterInput input{pod, state, demand, options};
    apply_filters(input, feasible_);
    std::size_t count = 0;
    for (const std::uint8_t flag : feasible_) count += flag;
    return {pod, state, history, runs, options, now, demand, feasible_, count};
  }

 private:
  std::uint32_t next_slot_ = 100;
  std::vector<std::uint8_t> feasible_;
};

inline Pod pod_with(PodSpec spec, WorkloadId workload = {}) {
  return test_pod({1, 1}, test_shape(std::move(spec), workload));
}

}  // namespace evenkeel::scheduling
