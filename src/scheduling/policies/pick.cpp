#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "scheduling/node_kernels.h"
#include "scheduling/policies/policy.h"

namespace evenkeel::scheduling {

void ScoreSheet::put_best_first() {
  // What is no number comes last: a broken model must not break the order as well.
  const auto known = [](double total) {
    return std::isnan(total) ? -std::numeric_limits<double>::infinity() : total;
  };
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    const double left = known(a.total), right = known(b.total);
    return left != right ? left > right : a.node < b.node;
  });
}

ScoreSheet PlacementPolicy::explain_best(const PlacementRequest& request, std::size_t count, NodeId also) {
  ScoreSheet sheet = explain(request);
  std::size_t seen = 0;
  std::erase_if(sheet.rows, [&](const ScoreSheet::Row& row) { return ++seen > count && row.node != also; });
  return sheet;
}

// In blocks: only those that hold a highest score are looked at a second time.
NodeId pick_highest(std::span<const float> scores, std::span<const std::uint8_t> feasible, Random& random) {
  constexpr std::size_t kBlocks = 32;
  const std::size_t n = scores.size();
  const std::size_t size = std::max<std::size_t>(64, (n / kBlocks + 64) / 64 * 64);
  std::array<float, kBlocks> tops;
  float top = -std::numeric_limits<float>::infinity();
  for (std::size_t from = 0, block = 0; from < n; from += size, ++block) {
    tops[block] = highest_score(scores.data() + from, feasible.data() + from, std::min(size, n - from));
    top = std::max(top, tops[block]);
  }
  std::array<std::size_t, kBlocks> ties{};
  std::size_t all_ties = 0;
  for (std::size_t from = 0, block = 0; from < n; from += size, ++block) {
    if (tops[block] != top) continue;
    ties[block] = count_equal(scores.data() + from, feasible.data() + from, std::min(size, n - from), top);
    all_ties += ties[block];
  }
  EVENKEEL_CHECK(all_ties > 0);
  std::size_t skip = all_ties == 1 ? 0 : random.below(all_ties), block = 0;
  for (; skip >= ties[block]; ++block) skip -= ties[block];
  for (auto slot = static_cast<std::uint32_t>(block * size);; ++slot)
    if (feasible[slot] && scores[slot] == top && skip-- == 0) return {slot};
}

}  // namespace evenkeel::scheduling
