#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cluster/cluster_state.h"
#include "learning/real.h"
#include "prediction/workload_history.h"

namespace evenkeel::scheduling {

// One node's six metrics as shares of its capacity, 0..1 (DRS eq. 8).
using NodeMetrics = std::array<double, kDimensions>;

// A pod that was placed and that no sample may show yet.
struct FreshPod {
  PodId pod;
  NodeId node;
  Usage expected;
};

// The metrics of the given nodes, absent ones all zero: what the last samples show, or what is expected where
// a node was never sampled, plus the fresh pods that have no sample yet. Shares above 1 count as 1, since a
// rate may pass what a node was said to be capable of; nothing at all where any is negative or no number, so
// that it reaches neither a state nor a reward.
std::optional<std::vector<NodeMetrics>> node_metrics(const ClusterState& cluster,
                                                     std::span<const std::uint32_t> slots,
                                                     std::span<const FreshPod> fresh);

// What a pod is expected to use, as shares of the average of these nodes (eq. 9); nothing as above.
std::optional<NodeMetrics> pod_metrics(const ClusterState& cluster, std::span<const std::uint32_t> slots,
                                       const Usage& demand);

// [Node 1 … Node n, Pod] (eq. 7), times `scale`: 1, or 100 for percent as published.
std::vector<learning::Real> drs_state(std::span<const NodeMetrics> nodes, const NodeMetrics& pod,
                                      double scale);

// AvgUtil (eq. 12) and ImBalance (eq. 13), both in 0..1; the absent nodes are left out.
struct Balance {
  double utilization = 0, imbalance = 0;
};
Balance balance_of(std::span<const NodeMetrics> nodes, std::span<const std::uint8_t> present);

// Whose reward is learnt from. The DRS paper compares "the reward settings" of the others without giving
// them; docs/algorithms/drs.md says what we read into that.
enum class DrsReward {
  drs,           // alpha AvgUtil - beta ImBalance (eq. 14), AvgUtil in percent, ImBalance in 0..1, alpha 1
  rlsk,          // the same of CPU and memory alone, less how far the two lie apart within each node
  deeprm,        // -1/T for every pod in the system, T its expected run time (Mao et al. 2016, section 3)
  multi_deeprm,  // the same, each pod counting for more the fuller its node's CPU or memory is
};

struct RewardInput {
  std::span<const NodeMetrics> nodes;
  std::span<const std::uint8_t> present;
  std::span<const std::uint32_t> slots;
  const ClusterState& cluster;
  const prediction::WorkloadHistory& history;
  double beta = 200;  // over alpha, which is 1
};
double reward_of(DrsReward kind, const RewardInput& input);

}  // namespace evenkeel::scheduling
