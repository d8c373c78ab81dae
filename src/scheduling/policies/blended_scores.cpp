#include "scheduling/policies/blended_scores.h"

#include <algorithm>
#include <cmath>

#include "base/vector_clones.h"
#include "scheduling/node_kernels.h"

namespace evenkeel::scheduling {
namespace {

// Where in the field a score lies, 0 to 100 in whole steps; in the arithmetic of the score sheet, so that
// both say the same of every node.
EVENKEEL_VECTOR_CLONES
void add_shares(const float* scores, std::size_t n, double low, double width, double weight, float* total) {
  for (std::size_t i = 0; i < n; ++i)
    total[i] +=
        static_cast<float>(weight * std::floor(100 * ((static_cast<double>(scores[i]) - low) / width)));
}

}  // namespace

std::span<const float> BlendedScores::scores(const PlacementRequest& request) {
  const std::span<const float> opinion = policy_->scores(request);
  if (opinion.empty()) return {};
  const std::span<const float> plugins = plugins_.scores(request);
  total_.assign(plugins.begin(), plugins.end());
  const ScoreSpan span = span_of_scores(opinion.data(), request.feasible.data(), opinion.size());
  if (span.high > span.low)
    add_shares(opinion.data(), opinion.size(), span.low,
               static_cast<double>(span.high) - static_cast<double>(span.low), weight_, total_.data());
  return total_;
}

ScoreSheet BlendedScores::explain(const PlacementRequest& request) {
  ScoreSheet sheet = plugins_.explain(request);
  const ScoreSheet opinion = policy_->explain(request);
  std::vector<double> of_node(request.feasible.size(), 0);
  double low = 0, high = 0;
  for (std::size_t i = 0; i < opinion.rows.size(); ++i) {
    const double total = opinion.rows[i].total;
    low = i == 0 ? total : std::min(low, total);
    high = i == 0 ? total : std::max(high, total);
    of_node[opinion.rows[i].node.slot] = total;
  }
  sheet.terms.push_back(name_);
  sheet.weights.push_back(weight_);
  for (ScoreSheet::Row& row : sheet.rows) {
    const double share = high > low ? (of_node[row.node.slot] - low) / (high - low) : 0;
    const double part = weight_ * std::floor(100 * share);
    row.parts.push_back(part);
    row.total += part;
  }
  sheet.put_best_first();
  return sheet;
}

std::optional<NodeId> BlendedScores::choose(const PlacementRequest& request, Random& random) {
  if (const std::span<const float> all = scores(request); !all.empty())
    return pick_highest(all, request.feasible, random);
  const ScoreSheet sheet = explain(request);
  std::size_t best = 1;
  while (best < sheet.rows.size() && sheet.rows[best].total == sheet.rows[0].total) ++best;
  return sheet.rows[best == 1 ? 0 : static_cast<std::size_t>(random.below(best))].node;
}

}  // namespace evenkeel::scheduling
