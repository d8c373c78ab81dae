#include "scheduling/policies/weighted_scores.h"

#include <algorithm>

namespace evenkeel::scheduling {
std::span<const Scorer> WeightedScores::scorers(const PlacementRequest& request) {
  if (!scorers_.empty()) return scorers_;
  if (!request.options.profile.scorers) return kube_default_scorers(request.options.kube);
  if (of_profile_.empty()) of_profile_ = profile_scorers(request.options);  // options do not change
  return of_profile_;
}

std::optional<NodeId> WeightedScores::choose(const PlacementRequest& request, Random& random) {
  total_.assign(request.feasible.size(), 0.0F);
  for (const Scorer& scorer : scorers(request))
    if (scorer.matters(request)) scorer.add(request, scorer.weight, total_);
  return pick_highest(total_, request.feasible, random);
}

ScoreSheet WeightedScores::explain(const PlacementRequest& request) {
  ScoreSheet sheet;
  for (std::uint32_t slot = 0; slot < request.feasible.size(); ++slot)
    if (request.feasible[slot]) sheet.rows.push_back({{slot}, {}, 0});
  for (const Scorer& scorer : scorers(request)) {
    sheet.terms.emplace_back(scorer.plugin);
    sheet.weights.push_back(static_cast<double>(scorer.weight));
    const bool matters = scorer.matters(request);
    total_.assign(request.feasible.size(), matters ? 0.0F : scorer.idle * scorer.weight);
    if (matters) scorer.add(request, scorer.weight, total_);
    for (ScoreSheet::Row& row : sheet.rows) {
      const double part = total_[row.node.slot];
      row.parts.push_back(part);
      row.total += part;
    }
  }
  sheet.put_best_first();
  return sheet;
}

}  // namespace evenkeel::scheduling
