#include "scheduling/policies/least_imbalance.h"

#include <algorithm>

namespace evenkeel::scheduling {

bool load_is_known(const PlacementRequest& request) {
  const Time last = request.cluster.last_measured();
  return last != Time::min() && request.now - last <= request.options.stale_after;
}

UtilizationField utilization_field(const NodeColumns& columns) {
  UtilizationField field;
  for (std::size_t d = 0; d < kDimensions; ++d) field[d] = columns.utilization[d];
  return field;
}

UtilizationField per_unit_field(const NodeColumns& columns) {
  UtilizationField field;
  for (std::size_t d = 0; d < kDimensions; ++d) field[d] = columns.per_unit[d];
  return field;
}

void LeastImbalance::rate(const PlacementRequest& request) {
  const NodeColumns& columns = request.cluster.columns();
  const UtilizationField field = utilization_field(columns);
  scores_.assign(columns.size(), 0.0F);
  add_imbalance_after(field, per_unit_field(columns), imbalance_of(field, request.cluster.node_count()),
                      request.demand.mean, -1.0F / kDimensions, scores_);
}

std::span<const float> LeastImbalance::scores(const PlacementRequest& request) {
  if (!load_is_known(request)) return fallback_.scores(request);
  rate(request);
  return scores_;
}

std::optional<NodeId> LeastImbalance::choose(const PlacementRequest& request, Random& random) {
  return pick_highest(scores(request), request.feasible, random);
}

ScoreSheet LeastImbalance::explain(const PlacementRequest& request) {
  if (!load_is_known(request)) return fallback_.explain(request);
  rate(request);
  const NodeColumns& columns = request.cluster.columns();
  const UtilizationField field = utilization_field(columns), per_unit = per_unit_field(columns);
  const Imbalance before = imbalance_of(field, request.cluster.node_count());
  ScoreSheet sheet;
  for (const std::string_view name : kDimensionNames)
    sheet.terms.emplace_back("imbalance of " + std::string(name));
  for (std::uint32_t slot = 0; slot < request.feasible.size(); ++slot)
    if (request.feasible[slot]) sheet.rows.push_back({{slot}, {}, scores_[slot]});
  for (std::size_t d = 0; d < kDimensions; ++d) {
    // One dimension at a time, by leaving the others' demand and variance out.
    Imbalance only = before;
    Usage added;
    for (std::size_t other = 0; other < kDimensions; ++other)
      if (other != d) only.variance[other] = 0;
    added.of[d] = request.demand.mean.of[d];
    std::vector<float> part(columns.size());
    add_imbalance_after(field, per_unit, only, added, -1.0F / kDimensions, part);
    for (ScoreSheet::Row& row : sheet.rows) row.parts.push_back(part[row.node.slot]);
  }
  sheet.put_best_first();
  return sheet;
}

}  // namespace evenkeel::scheduling
