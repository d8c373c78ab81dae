#include "scheduling/policies/horizon.h"

#include <algorithm>
#include <cmath>

#include "scheduling/policies/least_imbalance.h"

namespace evenkeel::scheduling {

// What comes later counts less, by exp(-t / horizon): the points are the middles of
// kPoints parts of equal weight.
double Horizon::ahead_s(const PlacementRequest& request, std::size_t point) const {
  const double below = (static_cast<double>(point) + 0.5) / kPoints;
  return -to_seconds(request.options.horizon) * std::log1p(-below);
}

void Horizon::forecast(const PlacementRequest& request, NodeId node) {
  const ClusterState& cluster = request.cluster;
  std::array<Usage, kPoints> expected;
  expected.fill(cluster.base_load(node));
  for (const PodId id : cluster.pods_on(node)) {
    const PodRecord& record = *cluster.pod(id);
    const prediction::Lifetime life = request.history.lifetime(record.pod);
    const double age = record.started ? to_seconds(request.now - record.since) : 0;
    std::array<double, kPoints> alive;
    life.survival(age, ahead_, alive);
    for (std::size_t k = 0; k < kPoints; ++k) expected[k] += record.expected.mean * alive[k];
  }
  for (std::size_t k = 0; k < kPoints; ++k)
    for (std::size_t d = 0; d < kDimensions; ++d)
      expected_[k][d][node.slot] =
          static_cast<float>(expected[k].of[d]) * cluster.columns().per_unit[d][node.slot];
  forecasts_[node.slot] = {cluster.version(node), request.now};
}

void Horizon::refresh(const PlacementRequest& request) {
  for (std::size_t k = 0; k < kPoints; ++k) ahead_[k] = ahead_s(request, k);
  const auto n = static_cast<std::uint32_t>(request.cluster.columns().size());
  if (forecasts_.size() < n) {
    forecasts_.resize(n);
    for (auto& point : expected_)
      for (auto& column : point) column.resize(n);
  }
  for (std::uint32_t slot = 0; slot < n; ++slot)
    if (forecasts_[slot].version != request.cluster.version({slot}) && request.cluster.has_node({slot}))
      forecast(request, {slot});
  const Duration fresh_for = request.options.horizon / 64;
  std::size_t left = kRefreshes;
  for (std::uint32_t step = 0; step < n && left > 0; ++step) {
    next_refresh_ = (next_refresh_ + 1) % n;
    if (!request.cluster.has_node({next_refresh_}) ||
        request.now - forecasts_[next_refresh_].made <= fresh_for)
      continue;
    forecast(request, {next_refresh_});
    --left;
  }
}

void Horizon::rate(const PlacementRequest& request) {
  refresh(request);
  const NodeColumns& columns = request.cluster.columns();
  const UtilizationField per_unit = per_unit_field(columns);
  const prediction::Lifetime life = request.history.lifetime(request.pod);
  scores_.assign(columns.size(), 0.0F);
  for (std::size_t k = 0; k < kPoints; ++k) {
    UtilizationField field;
    for (std::size_t d = 0; d < kDimensions; ++d) field[d] = expected_[k][d];
    const Usage added = request.demand.mean * life.survival(0, ahead_s(request, k));
    add_imbalance_after(field, per_unit, imbalance_of(field, request.cluster.node_count()), added,
                        -1.0F / (kDimensions * kPoints), scores_);
  }
}

std::optional<NodeId> Horizon::choose(const PlacementRequest& request, Random& random) {
  if (!load_is_known(request)) return fallback_.choose(request, random);
  rate(request);
  return pick_highest(scores_, request.feasible, random);
}

ScoreSheet Horizon::explain(const PlacementRequest& request) {
  if (!load_is_known(request)) return fallback_.explain(request);
  rate(request);
  const std::vector<float> whole = scores_;
  const NodeColumns& columns = request.cluster.columns();
  const prediction::Lifetime life = request.history.lifetime(request.pod);
  ScoreSheet sheet;
  for (std::uint32_t slot = 0; slot < request.feasible.size(); ++slot)
    if (request.feasible[slot]) sheet.rows.push_back({{slot}, {}, whole[slot]});
  for (std::size_t k = 0; k < kPoints; ++k) {
    sheet.terms.push_back("imbalance in " + std::to_string(static_cast<int>(ahead_s(request, k))) + " s");
    UtilizationField field;
    for (std::size_t d = 0; d < kDimensions; ++d) field[d] = expected_[k][d];
    std::vector<float> part(columns.size());
    add_imbalance_after(field, per_unit_field(columns), imbalance_of(field, request.cluster.node_count()),
                        request.demand.mean * life.survival(0, ahead_s(request, k)), -1.0F / kDimensions,
                        part);
    for (ScoreSheet::Row& row : sheet.rows) row.parts.push_back(part[row.node.slot]);
  }
  std::stable_sort(sheet.rows.begin(), sheet.rows.end(),
                   [](const auto& a, const auto& b) { return a.total > b.total; });
  return sheet;
}

}  // namespace evenkeel::scheduling
