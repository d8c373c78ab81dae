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

// In a cluster that is even so far the first small unevenness would count for everything.
Imbalance Horizon::softened(Imbalance imbalance) {
  for (double& variance : imbalance.variance) variance += kSoft * kSoft;
  return imbalance;
}

// What a pod is planned for: what it uses, and a little of what it may use at worst. The
// rates of network and disk are too bursty for their peaks to mean anything.
Usage Horizon::planned(const Demand& demand) {
  Usage plan = demand.mean;
  for (const Dimension d : {Dimension::cpu, Dimension::memory})
    plan[d] += kPeakShare * (std::max(demand.peak[d], demand.mean[d]) - demand.mean[d]);
  return plan;
}

void Horizon::forecast(const PlacementRequest& request, NodeId node) {
  const ClusterState& cluster = request.cluster;
  std::array<Usage, kPoints> expected;
  expected.fill(cluster.base_load(node));
  double bursts = 0;
  for (const PodId id : cluster.pods_on(node)) {
    const PodRecord& record = *cluster.pod(id);
    const prediction::Lifetime life = request.history.lifetime(record.pod);
    const double age = record.started ? to_seconds(request.now - record.since) : 0;
    std::array<double, kPoints> alive;
    life.survival(age, ahead_, alive);
    const Usage plan = planned(record.expected);
    for (std::size_t k = 0; k < kPoints; ++k) expected[k] += plan * alive[k];
    if (life.endless) bursts += burst(record.expected);
  }
  const NodeColumns& columns = cluster.columns();
  for (std::size_t k = 0; k < kPoints; ++k)
    for (std::size_t d = 0; d < kDimensions; ++d)
      expected_[k][d][node.slot] = static_cast<float>(expected[k].of[d]) * columns.per_unit[d][node.slot];
  bursts_[node.slot] = static_cast<float>(bursts) * columns.per_unit[kCpu][node.slot];
  forecasts_[node.slot] = {cluster.version(node), request.now};
}

void Horizon::forget(const PlacementRequest& request, NodeId node) {
  for (auto& point : expected_)
    for (auto& column : point) column[node.slot] = 0;
  bursts_[node.slot] = 0;
  forecasts_[node.slot] = {request.cluster.version(node), request.now};
}

void Horizon::refresh(const PlacementRequest& request) {
  for (std::size_t k = 0; k < kPoints; ++k) ahead_[k] = ahead_s(request, k);
  const auto n = static_cast<std::uint32_t>(request.cluster.columns().size());
  if (forecasts_.size() < n) {
    forecasts_.resize(n);
    for (auto& point : expected_)
      for (auto& column : point) column.resize(n);
    bursts_.resize(n);
  }
  for (std::uint32_t slot = 0; slot < n; ++slot)
    if (forecasts_[slot].version != request.cluster.version({slot}))
      request.cluster.has_node({slot}) ? forecast(request, {slot}) : forget(request, {slot});
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

void Horizon::add_point(const PlacementRequest& request, std::size_t point, std::span<float> scores) const {
  UtilizationField field;
  for (std::size_t d = 0; d < kDimensions; ++d) field[d] = expected_[point][d];
  const double alive = request.history.lifetime(request.pod).survival(0, ahead_[point]);
  add_imbalance_after(field, per_unit_field(request.cluster.columns()),
                      softened(imbalance_of(field, request.cluster.node_count())),
                      planned(request.demand) * alive, -1.0F / (kDimensions * kPoints), scores);
}

void Horizon::rate(const PlacementRequest& request) {
  refresh(request);
  scores_.assign(request.cluster.columns().size(), 0.0F);
  for (std::size_t k = 0; k < kPoints; ++k) add_point(request, k, scores_);
  if (request.history.lifetime(request.pod).endless) add_bursts(request, scores_);
}

// Machines that may burst together are kept apart: how unevenly their peaks are spread
// counts a little as well.
void Horizon::add_bursts(const PlacementRequest& request, std::span<float> scores) const {
  const std::vector<float> nothing(bursts_.size());
  UtilizationField field, per_unit = per_unit_field(request.cluster.columns());
  field.fill(nothing);
  field[kCpu] = bursts_;
  Usage added;
  added.of[kCpu] = burst(request.demand);
  add_imbalance_after(field, per_unit, softened(imbalance_of(field, request.cluster.node_count())), added,
                      -kBurstWeight / kDimensions, scores);
}

std::optional<NodeId> Horizon::choose(const PlacementRequest& request, Random& random) {
  if (!load_is_known(request)) return fallback_.choose(request, random);
  rate(request);
  return pick_highest(scores_, request.feasible, random);
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
    add_term("imbalance in " + std::to_string(static_cast<int>(ahead_[k])) + " s",
             [&] { add_point(request, k, part); });
  if (request.history.lifetime(request.pod).endless)
    add_term("unevenness of bursts", [&] { add_bursts(request, part); });
  sheet.put_best_first();
  return sheet;
}

}  // namespace evenkeel::scheduling
