#include "scheduling/policies/blended_scores.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::scheduling {

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
  const ScoreSheet sheet = explain(request);
  std::size_t best = 1;
  while (best < sheet.rows.size() && sheet.rows[best].total == sheet.rows[0].total) ++best;
  return sheet.rows[best == 1 ? 0 : static_cast<std::size_t>(random.below(best))].node;
}

}  // namespace evenkeel::scheduling
