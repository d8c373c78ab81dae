#include "base/check.h"
#include "scheduling/node_kernels.h"
#include "scheduling/policies/policy.h"

namespace evenkeel::scheduling {

NodeId pick_highest(std::span<const float> scores, std::span<const std::uint8_t> feasible, Random& random) {
  const float top = highest_score(scores.data(), feasible.data(), scores.size());
  const std::size_t ties = count_equal(scores.data(), feasible.data(), scores.size(), top);
  EVENKEEL_CHECK(ties > 0);
  std::uint64_t skip = ties == 1 ? 0 : random.below(ties);
  // Block by block, so that the walk to the one that was drawn is short.
  constexpr std::size_t kBlock = 256;
  std::size_t from = 0;
  for (std::size_t here; from + kBlock < scores.size(); from += kBlock, skip -= here) {
    here = count_equal(scores.data() + from, feasible.data() + from, kBlock, top);
    if (skip < here) break;
  }
  for (auto slot = static_cast<std::uint32_t>(from);; ++slot)
    if (feasible[slot] && scores[slot] == top && skip-- == 0) return {slot};
}

}  // namespace evenkeel::scheduling
