// Counting by use: in place of NodeResourcesFit where it is switched on (docs/papers.md: what
// lifts utilisation in a saturated cluster is not the choice of node but the counting).
#include <cmath>

#include "scheduling/filters/filter.h"

namespace evenkeel::scheduling {
namespace {

bool matters(const FilterInput& input) { return input.options.by_use.on; }

// The dimension that would be over-full, or kDimensions.
std::size_t fullest(const FilterInput& input, std::size_t i) {
  const NodeColumns& c = input.cluster.columns();
  const CountByUse& by_use = input.options.by_use;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const double per_unit = c.per_unit[d][i];
    const double wanted = input.demand.mean.of[d] * per_unit;
    if (wanted <= 0) continue;
    const double variance = c.variance[d][i] + input.demand.variance.of[d] * per_unit * per_unit;
    if (c.utilization[d][i] + wanted + by_use.risk * std::sqrt(variance) > by_use.ceiling) return d;
  }
  return kDimensions;
}

Verdict judge_node(const FilterInput& input, NodeId node) {
  const NodeColumns& c = input.cluster.columns();
  if (c.free_pods[node.slot] < 1) return {{"Too many pods"}, false};
  const std::size_t d = fullest(input, node.slot);
  if (d == kDimensions) return {};
  return {{"Expected use of " + std::string(kDimensionNames[d]) + " too high"}, false};
}

void apply(const FilterInput& input, std::span<std::uint8_t> feasible) {
  const NodeColumns& c = input.cluster.columns();
  for (std::size_t i = 0; i < feasible.size(); ++i)
    if (feasible[i] && (c.free_pods[i] < 1 || fullest(input, i) != kDimensions)) feasible[i] = 0;
}

}  // namespace

const Filter kUseFit = {"UseFit", matters, apply, judge_node};

}  // namespace evenkeel::scheduling
