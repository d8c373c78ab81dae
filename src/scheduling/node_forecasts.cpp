#include "scheduling/node_forecasts.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::scheduling {

Usage NodeForecasts::planned(const Demand& demand) {
  Usage plan = demand.mean;
  for (const Dimension d : {Dimension::cpu, Dimension::memory})
    plan[d] += kPeakShare * (std::max(demand.peak[d], demand.mean[d]) - demand.mean[d]);
  return plan;
}

void NodeForecasts::make(const PlacementRequest& request, NodeId node) {
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
  renewed_.push_back(node.slot);
}

void NodeForecasts::forget(const PlacementRequest& request, NodeId node) {
  for (auto& point : expected_)
    for (auto& column : point) column[node.slot] = 0;
  bursts_[node.slot] = 0;
  forecasts_[node.slot] = {request.cluster.version(node), request.now};
  renewed_.push_back(node.slot);
}

void NodeForecasts::refresh(const PlacementRequest& request) {
  renewed_.clear();
  for (std::size_t k = 0; k < kPoints; ++k) {
    const double below = (static_cast<double>(k) + 0.5) / kPoints;
    ahead_[k] = -to_seconds(request.options.horizon) * std::log1p(-below);
  }
  const auto n = static_cast<std::uint32_t>(request.cluster.columns().size());
  if (forecasts_.size() < n) {
    forecasts_.resize(n);
    for (auto& point : expected_)
      for (auto& column : point) column.resize(n);
    bursts_.resize(n);
  }
  for (std::uint32_t slot = 0; slot < n; ++slot)
    if (forecasts_[slot].version != request.cluster.version({slot}))
      request.cluster.has_node({slot}) ? make(request, {slot}) : forget(request, {slot});
  const Duration fresh_for = request.options.horizon / 64;
  std::size_t left = kRefreshes;
  for (std::uint32_t step = 0; step < n && left > 0; ++step) {
    next_refresh_ = (next_refresh_ + 1) % n;
    if (!request.cluster.has_node({next_refresh_}) ||
        request.now - forecasts_[next_refresh_].made <= fresh_for)
      continue;
    make(request, {next_refresh_});
    --left;
  }
}

UtilizationField NodeForecasts::at(std::size_t point) const {
  UtilizationField field;
  for (std::size_t d = 0; d < kDimensions; ++d) field[d] = expected_[point][d];
  return field;
}

}  // namespace evenkeel::scheduling
