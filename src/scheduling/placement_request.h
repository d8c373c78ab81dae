#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "cluster/cluster_state.h"
#include "prediction/workload_history.h"
#include "scheduling/options.h"
#include "scheduling/run_estimates.h"

namespace evenkeel::scheduling {

// The question put to a policy: this pod, this cluster, these nodes that passed every
// filter. A view: valid until the scheduler is touched again.
struct PlacementRequest {
  const Pod& pod;
  const ClusterState& cluster;
  const prediction::WorkloadHistory& history;
  const RunEstimates& runs;
  const SchedulingOptions& options;
  Time now;
  Demand demand;                           // what the pod is expected to use
  std::span<const std::uint8_t> feasible;  // one per node column; 1: passed every filter
  std::size_t feasible_count = 0;          // never 0
  std::size_t profile = 0;                 // whose options these are, and whose policy is to answer
  // Where the plan of its group has it; then no other node is feasible.
  std::optional<NodeId> planned{};
  std::size_t planned_with = 0;  // so many others of its group
};

}  // namespace evenkeel::scheduling
