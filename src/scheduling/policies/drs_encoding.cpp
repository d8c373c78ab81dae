#include "scheduling/policies/drs_encoding.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::scheduling {
namespace {

constexpr auto kCpu = static_cast<std::size_t>(Dimension::cpu);
constexpr auto kMemory = static_cast<std::size_t>(Dimension::memory);
constexpr double kUnknownLife_s = 60;  // of a pod whose workload never ended yet

bool believable(double share) { return std::isfinite(share) && share >= 0; }

double per_unit(double capacity) { return capacity > 0 ? 1 / capacity : 0; }

// DeepRM's: every pod in the system costs one over its run time, so that short ones get out of the way first.
double pods_in_the_system(const RewardInput& input, bool crowding) {
  double cost = 0;
  for (std::size_t i = 0; i < input.slots.size(); ++i) {
    if (!input.present[i]) continue;
    const NodeId node{input.slots[i]};
    const double weight = crowding ? 1 + std::max(input.nodes[i][kCpu], input.nodes[i][kMemory]) : 1;
    for (const PodId id : input.cluster.pods_on(node)) {
      const prediction::Lifetime life = input.history.lifetime(input.cluster.pod(id)->pod);
      cost += weight / std::max(1.0, life.endless ? kUnknownLife_s : life.median_s());
    }
  }
  return -100 * cost;  // of the order of the other rewards, so that one learning rate serves all
}

}  // namespace

std::optional<std::vector<NodeMetrics>> node_metrics(const ClusterState& cluster,
                                                     std::span<const std::uint32_t> slots,
                                                     std::span<const FreshPod> fresh) {
  std::vector<NodeMetrics> nodes(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const NodeId node{slots[i]};
    if (!cluster.has_node(node)) continue;
    const std::optional<Usage> measured = cluster.measured_use(node);
    Usage use = measured ? *measured : cluster.load(node).mean;
    if (measured)
      for (const FreshPod& pod : fresh) {
        const PodRecord* record = pod.node == node ? cluster.pod(pod.pod) : nullptr;
        if (record && record->samples == 0) use += pod.expected;
      }
    for (std::size_t d = 0; d < kDimensions; ++d) {
      const double share = use.of[d] * per_unit(cluster.node(node).capacity.of[d]);
      if (!believable(share)) return std::nullopt;
      nodes[i][d] = std::min(share, 1.0);
    }
  }
  return nodes;
}

std::optional<NodeMetrics> pod_metrics(const ClusterState& cluster, std::span<const std::uint32_t> slots,
                                       const Usage& demand) {
  NodeMetrics pod{};
  Usage capacity;
  double present = 0;
  for (const std::uint32_t slot : slots) {
    if (!cluster.has_node({slot})) continue;
    capacity += cluster.node({slot}).capacity;
    present += 1;
  }
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const double share = demand.of[d] * per_unit(capacity.of[d]) * present;
    if (!believable(share)) return std::nullopt;
    pod[d] = std::min(share, 1.0);
  }
  return pod;
}

std::vector<learning::Real> drs_state(std::span<const NodeMetrics> nodes, const NodeMetrics& pod,
                                      double scale) {
  std::vector<learning::Real> state;
  state.reserve((nodes.size() + 1) * kDimensions);
  for (const NodeMetrics& node : nodes)
    for (const double share : node) state.push_back(scale * share);
  for (const double share : pod) state.push_back(scale * share);
  return state;
}

Balance balance_of(std::span<const NodeMetrics> nodes, std::span<const std::uint8_t> present) {
  Balance balance;
  const auto n = static_cast<double>(std::count(present.begin(), present.end(), 1));
  if (n == 0) return balance;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    double mean = 0, squares = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (present[i]) mean += nodes[i][d] / n;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (present[i]) squares += (nodes[i][d] - mean) * (nodes[i][d] - mean);
    balance.utilization += mean / kDimensions;
    balance.imbalance += std::sqrt(squares / n) / kDimensions;
  }
  return balance;
}

double reward_of(DrsReward kind, const RewardInput& input) {
  switch (kind) {
    case DrsReward::drs: {
      const Balance balance = balance_of(input.nodes, input.present);
      return 100 * balance.utilization - input.beta * balance.imbalance;
    }
    case DrsReward::rlsk: {
      // Every dimension but CPU and memory is left out by making it the same everywhere.
      std::vector<NodeMetrics> seen(input.nodes.size());
      double apart = 0, n = 0;
      for (std::size_t i = 0; i < seen.size(); ++i) {
        if (!input.present[i]) continue;
        seen[i][kCpu] = input.nodes[i][kCpu];
        seen[i][kMemory] = input.nodes[i][kMemory];
        apart += std::abs(seen[i][kCpu] - seen[i][kMemory]) / 2;  // the deviation of two numbers
        n += 1;
      }
      const Balance balance = balance_of(seen, input.present);
      constexpr double kShare = kDimensions / 2.0;  // eq. 12 and 13 with C = 2
      return 100 * kShare * balance.utilization - input.beta * kShare * balance.imbalance -
             (n > 0 ? input.beta / 2 * apart / n : 0);
    }
    case DrsReward::deeprm:
      return pods_in_the_system(input, false);
    case DrsReward::multi_deeprm:
      return pods_in_the_system(input, true);
  }
  return 0;
}

}  // namespace evenkeel::scheduling
