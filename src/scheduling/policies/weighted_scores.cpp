#include "scheduling/policies/weighted_scores.h"

#include <algorithm>

#include "base/vector_clones.h"

namespace evenkeel::scheduling {
namespace {

EVENKEEL_VECTOR_CLONES
void add_scaled(float* total, const float* scores, float weight, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) total[i] += weight * scores[i];
}

}  // namespace

std::span<const Scorer> WeightedScores::scorers(const PlacementRequest& request) const {
  return scorers_.empty() ? kube_default_scorers(request.options.kube) : std::span<const Scorer>(scorers_);
}

std::optional<NodeId> WeightedScores::choose(const PlacementRequest& request, Random& random) {
  total_.assign(request.feasible.size(), 0.0F);
  scores_.resize(total_.size());
  for (const Scorer& scorer : scorers(request)) {
    if (!scorer.matters(request)) continue;
    scorer.rate(request, scores_);
    add_scaled(total_.data(), scores_.data(), scorer.weight, total_.size());
  }
  return pick_highest(total_, request.feasible, random);
}

ScoreSheet WeightedScores::explain(const PlacementRequest& request) {
  ScoreSheet sheet;
  for (std::uint32_t slot = 0; slot < request.feasible.size(); ++slot)
    if (request.feasible[slot]) sheet.rows.push_back({{slot}, {}, 0});
  scores_.resize(request.feasible.size());
  for (const Scorer& scorer : scorers(request)) {
    sheet.terms.emplace_back(scorer.plugin);
    std::fill(scores_.begin(), scores_.end(), 0.0F);
    if (scorer.matters(request)) scorer.rate(request, scores_);
    for (ScoreSheet::Row& row : sheet.rows) {
      const double part = scorer.weight * scores_[row.node.slot];
      row.parts.push_back(part);
      row.total += part;
    }
  }
  std::stable_sort(sheet.rows.begin(), sheet.rows.end(),
                   [](const auto& a, const auto& b) { return a.total > b.total; });
  return sheet;
}

}  // namespace evenkeel::scheduling
