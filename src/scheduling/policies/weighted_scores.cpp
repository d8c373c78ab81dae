#include "scheduling/policies/weighted_scores.h"

#include <algorithm>

namespace evenkeel::scheduling {
std::span<const Scorer> WeightedScores::scorers(const PlacementRequest& request) {
  if (!scorers_.empty()) return scorers_;
  if (!request.options.profile.scorers) return kube_default_scorers(request.options.kube);
  if (of_profile_.empty()) of_profile_ = profile_scorers(request.options);  // options do not change
  return of_profile_;
}

std::span<const float> WeightedScores::scores(const PlacementRequest& request) {
  total_.assign(request.feasible.size(), 0.0F);
  for (const Scorer& scorer : scorers(request))
    if (scorer.matters(request)) scorer.add(request, scorer.weight, total_);
  return total_;
}

std::optional<NodeId> WeightedScores::choose(const PlacementRequest& request, Random& random) {
  return pick_highest(scores(request), request.feasible, random);
}

// What one plugin says of every node, times its weight.
void WeightedScores::score(const Scorer& scorer, const PlacementRequest& request, Column<float>& part) const {
  const bool matters = scorer.matters(request);
  part.assign(request.feasible.size(), matters ? 0.0F : scorer.idle * scorer.weight);
  if (matters) scorer.add(request, scorer.weight, part);
}

ScoreSheet WeightedScores::explain(const PlacementRequest& request) {
  ScoreSheet sheet;
  for (std::uint32_t slot = 0; slot < request.feasible.size(); ++slot)
    if (request.feasible[slot]) sheet.rows.push_back({{slot}, {}, 0});
  for (const Scorer& scorer : scorers(request)) {
    sheet.terms.emplace_back(scorer.plugin);
    sheet.weights.push_back(static_cast<double>(scorer.weight));
    score(scorer, request, total_);
    for (ScoreSheet::Row& row : sheet.rows) {
      const double part = total_[row.node.slot];
      row.parts.push_back(part);
      row.total += part;
    }
  }
  sheet.put_best_first();
  return sheet;
}

// Columns instead of rows, of which only a few are made in the end.
ScoreSheet WeightedScores::explain_best(const PlacementRequest& request, std::size_t count, NodeId also) {
  ScoreSheet sheet;
  std::vector<Column<float>> parts;
  total_.assign(request.feasible.size(), 0.0F);
  for (const Scorer& scorer : scorers(request)) {
    sheet.terms.emplace_back(scorer.plugin);
    sheet.weights.push_back(static_cast<double>(scorer.weight));
    score(scorer, request, parts.emplace_back());
    for (std::size_t i = 0; i < total_.size(); ++i) total_[i] += parts.back()[i];
  }
  const auto row_of = [&](std::uint32_t slot) {
    ScoreSheet::Row row{{slot}, {}, total_[slot]};
    for (const Column<float>& part : parts) row.parts.push_back(part[slot]);
    return row;
  };
  // Slots ascend, so the first of equals stays in front.
  std::vector<std::uint32_t> best;
  for (std::uint32_t slot = 0; slot < total_.size(); ++slot) {
    if (!request.feasible[slot]) continue;
    if (best.size() == count && (count == 0 || total_[slot] <= total_[best.back()])) continue;
    if (best.size() == count) best.pop_back();
    const auto place = std::find_if(best.begin(), best.end(),
                                    [&](std::uint32_t other) { return total_[other] < total_[slot]; });
    best.insert(place, slot);
  }
  for (const std::uint32_t slot : best) sheet.rows.push_back(row_of(slot));
  if (std::find(best.begin(), best.end(), also.slot) == best.end()) sheet.rows.push_back(row_of(also.slot));
  return sheet;
}

}  // namespace evenkeel::scheduling
