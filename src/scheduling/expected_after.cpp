#include "scheduling/expected_after.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::scheduling {

ExpectedState expected_after(const NodeColumns& columns, const Imbalance& before, const Usage& added,
                             NodeId node) {
  ExpectedState expected;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const auto used = static_cast<double>(columns.utilization[d][node.slot]);
    const double more = added.of[d] * static_cast<double>(columns.per_unit[d][node.slot]);
    const double grown = more * (2 * (used - before.mean[d]) + more * (1 - 1 / before.nodes)) / before.nodes;
    expected.imbalance += std::sqrt(std::max(0.0, before.variance[d] + grown)) / kDimensions;
    expected.fullest = std::max(expected.fullest, used + more);
  }
  return expected;
}

}  // namespace evenkeel::scheduling
