#include "autoscaling/leavers.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace evenkeel::autoscaling {
namespace {

// What a spread is made of, so that one node's change need not be a walk over all.
struct Sums {
  double nodes = 0;
  double cpu = 0, cpu_squares = 0, memory = 0, memory_squares = 0;

  void add(const NodeLoad& load, double sign) {
    cpu += sign * load.cpu;
    cpu_squares += sign * load.cpu * load.cpu;
    memory += sign * load.memory;
    memory_squares += sign * load.memory * load.memory;
  }
  double spread() const {
    if (nodes == 0) return 0;
    const auto deviation = [&](double sum, double squares) {
      return std::sqrt(std::max(0.0, squares / nodes - sum / nodes * (sum / nodes)));
    };
    return (deviation(cpu, cpu_squares) + deviation(memory, memory_squares)) / 2;
  }
};

Sums sums_of(std::span<const NodeLoad> nodes) {
  Sums sums{.nodes = static_cast<double>(nodes.size())};
  for (const NodeLoad& node : nodes) sums.add(node, 1);
  return sums;
}

NodeLoad without(const NodeLoad& node, const NodeLoad& pod) {
  return {std::max(0.0, node.cpu - pod.cpu), std::max(0.0, node.memory - pod.memory)};
}

}  // namespace

double spread_of(std::span<const NodeLoad> nodes) { return sums_of(nodes).spread(); }

std::vector<std::size_t> choose_leavers(std::span<NodeLoad> nodes, std::span<const LeavingPod> pods,
                                        std::size_t count) {
  constexpr double kSame = 1e-9;  // of two spreads, what rounding makes of equals
  Sums sums = sums_of(nodes);
  std::vector<std::size_t> together(nodes.size(), 0);  // pods that stay, by node
  for (const LeavingPod& pod : pods) ++together[pod.node];
  std::vector<std::uint8_t> gone(pods.size(), 0);
  std::vector<std::size_t> chosen;
  while (chosen.size() < std::min(count, pods.size())) {
    const bool has_company =
        std::any_of(together.begin(), together.end(), [](std::size_t here) { return here > 1; });
    std::optional<std::size_t> best;
    double least = 0;
    for (std::size_t i = 0; i < pods.size(); ++i) {
      const LeavingPod& pod = pods[i];
      if (gone[i] != 0 || (has_company && together[pod.node] == 1)) continue;
      Sums after = sums;
      after.add(nodes[pod.node], -1);
      after.add(without(nodes[pod.node], pod.load), 1);
      const double spread = after.spread();
      if (best && spread >= least - kSame) continue;
      best = i;
      least = spread;
    }
    const LeavingPod& pod = pods[*best];
    sums.add(nodes[pod.node], -1);
    nodes[pod.node] = without(nodes[pod.node], pod.load);
    sums.add(nodes[pod.node], 1);
    gone[*best] = 1;
    --together[pod.node];
    chosen.push_back(*best);
  }
  return chosen;
}

}  // namespace evenkeel::autoscaling
