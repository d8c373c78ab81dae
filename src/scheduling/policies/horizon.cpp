#include "scheduling/policies/horizon.h"

#include <algorithm>
#include <cmath>

#include "scheduling/policies/least_imbalance.h"

namespace evenkeel::scheduling {

// In a cluster that is even so far the first small unevenness would count for everything.
Imbalance Horizon::softened(Imbalance imbalance) {
  for (double& variance : imbalance.variance) variance += kSoft * kSoft;
  return imbalance;
}

void Horizon::add_point(const PlacementRequest& request, std::size_t point, std::span<float> scores) const {
  if (request.cluster.node_count() >= kManyNodes) return add_slopes(request, point, point + 1, scores);
  const UtilizationField field = forecasts_.at(point);
  const double alive = request.history.lifetime(request.pod).survival(0, forecasts_.ahead_s()[point]);
  add_imbalance_after(field, per_unit_field(request.cluster.columns()), outlook_[point],
                      NodeForecasts::planned(request.demand) * alive, -1.0F / (kDimensions * kPoints),
                      scores);
}

void Horizon::add_slopes(const PlacementRequest& request, std::size_t from, std::size_t to,
                         std::span<float> scores) const {
  const prediction::Lifetime life = request.history.lifetime(request.pod);
  std::array<Outlook, kPoints> moments;
  for (std::size_t k = from; k < to; ++k)
    moments[k - from] = {forecasts_.at(k), outlook_[k], life.survival(0, forecasts_.ahead_s()[k])};
  add_imbalance_slopes(std::span(moments).first(to - from), per_unit_field(request.cluster.columns()),
                       NodeForecasts::planned(request.demand), -1.0F / (kDimensions * kPoints), scores);
}

std::span<const float> Horizon::rate(const PlacementRequest& request) {
  forecasts_.refresh(request);
  for (std::size_t k = 0; k < kPoints; ++k)
    outlook_[k] = softened(forecasts_.imbalance(k, request.cluster.node_count()));
  scores_.assign(request.cluster.columns().size(), 0.0F);
  if (request.cluster.node_count() >= kManyNodes)
    add_slopes(request, 0, kPoints, scores_);
  else
    for (std::size_t k = 0; k < kPoints; ++k) add_point(request, k, scores_);
  if (request.history.lifetime(request.pod).endless) add_bursts(request, scores_);
  return scores_;
}

// Machines that may burst together are kept apart: how unevenly their peaks are spread
// counts a little as well.
void Horizon::add_bursts(const PlacementRequest& request, std::span<float> scores) const {
  const std::vector<float> nothing(forecasts_.bursts().size());
  UtilizationField field, per_unit = per_unit_field(request.cluster.columns());
  field.fill(nothing);
  field[kCpu] = forecasts_.bursts();
  Usage added;
  added.of[kCpu] = NodeForecasts::burst(request.demand);
  add_imbalance_after(field, per_unit, softened(imbalance_of(field, request.cluster.node_count())), added,
                      -kBurstWeight / kDimensions, scores);
}

std::span<const float> Horizon::scores(const PlacementRequest& request) {
  return load_is_known(request) ? rate(request) : fallback_.scores(request);
}

std::optional<NodeId> Horizon::choose(const PlacementRequest& request, Random& random) {
  return pick_highest(scores(request), request.feasible, random);
}

ScoreSheet Horizon::explain(const PlacementRequest& request) {
  if (!load_is_known(request)) return fallback_.explain(request);
  rate(request);
  ScoreSheet sheet;
  for (std::uint32_t slot = 0; slot < request.feasible.size(); ++slot)
    if (request.feasible[slot]) sheet.rows.push_back({{slot}, {}, scores_[slot]});
  std::vector<float> part(scores_.size());
  const auto add_term = [&](std::string term, auto add) {
    sheet.terms.push_back(std::move(term));
    std::fill(part.begin(), part.end(), 0.0F);
    add();
    for (ScoreSheet::Row& row : sheet.rows) row.parts.push_back(part[row.node.slot]);
  };
  for (std::size_t k = 0; k < kPoints; ++k)
    add_term("imbalance in " + std::to_string(static_cast<int>(forecasts_.ahead_s()[k])) + " s",
             [&] { add_point(request, k, part); });
  if (request.history.lifetime(request.pod).endless)
    add_term("unevenness of bursts", [&] { add_bursts(request, part); });
  sheet.put_best_first();
  return sheet;
}

}  // namespace evenkeel::scheduling
