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

void NodeForecasts::put(std::size_t point, std::size_t dimension, std::uint32_t slot, float value) {
  float& kept = expected_[point][dimension][slot];
  Sums& sums = sums_[point][dimension];
  const double before = kept - kCentre, after = value - kCentre;
  sums.sum += after - before;
  sums.squares += after * after - before * before;
  kept = value;
}

// Rounding piles up change by change: now and then the sums are made anew.
void NodeForecasts::resum() {
  changes_ = 0;
  for (std::size_t k = 0; k < kPoints; ++k)
    for (std::size_t d = 0; d < kDimensions; ++d) {
      Sums sums;
      for (const float value : expected_[k][d]) {
        const double off = value - kCentre;
        sums.sum += off;
        sums.squares += off * off;
      }
      sums_[k][d] = sums;
    }
}

Imbalance NodeForecasts::imbalance(std::size_t point, std::size_t nodes) const {
  if (nodes < kManyNodes) return imbalance_of(at(point), nodes);
  Imbalance result;
  result.nodes = static_cast<double>(nodes);
  const double absent = static_cast<double>(forecasts_.size() - nodes), centre = kCentre;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const Sums& sums = sums_[point][d];
    const double off = (sums.sum + absent * centre) / result.nodes;
    result.mean[d] = centre + off;
    result.variance[d] = std::max(0.0, (sums.squares - absent * centre * centre) / result.nodes - off * off);
  }
  return result;
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
      put(k, d, node.slot, static_cast<float>(expected[k].of[d]) * columns.per_unit[d][node.slot]);
  bursts_[node.slot] = static_cast<float>(bursts) * columns.per_unit[kCpu][node.slot];
  forecasts_[node.slot] = {cluster.version(node), request.now};
  renewed_.push_back(node.slot);
}

void NodeForecasts::forget(const PlacementRequest& request, NodeId node) {
  for (std::size_t k = 0; k < kPoints; ++k)
    for (std::size_t d = 0; d < kDimensions; ++d) put(k, d, node.slot, 0);
  bursts_[node.slot] = 0;
  forecasts_[node.slot] = {request.cluster.version(node), request.now};
  renewed_.push_back(node.slot);
}

std::array<double, NodeForecasts::kPoints> NodeForecasts::moments_s(Duration horizon) {
  std::array<double, kPoints> moments;
  for (std::size_t k = 0; k < kPoints; ++k) {
    const double below = (static_cast<double>(k) + 0.5) / kPoints;
    moments[k] = -to_seconds(horizon) * std::log1p(-below);
  }
  return moments;
}

void NodeForecasts::refresh(const PlacementRequest& request) {
  renewed_.clear();
  ahead_ = moments_s(request.options.horizon);
  const auto n = static_cast<std::uint32_t>(request.cluster.columns().size());
  if (forecasts_.size() < n) {
    forecasts_.resize(n);
    for (auto& point : expected_)
      for (auto& column : point) column.resize(n);
    bursts_.resize(n);
    resum();
  }
  for (std::uint32_t slot = 0; slot < n; ++slot)
    if (forecasts_[slot].version != request.cluster.version({slot}))
      request.cluster.has_node({slot}) ? make(request, {slot}) : forget(request, {slot});
  const Duration fresh_for = request.options.horizon / 64;
  std::size_t left = n < kManyNodes ? kRefreshes : kFewRefreshes;
  for (std::uint32_t step = 0; step < n && left > 0; ++step) {
    next_refresh_ = (next_refresh_ + 1) % n;
    if (!request.cluster.has_node({next_refresh_}) ||
        request.now - forecasts_[next_refresh_].made <= fresh_for)
      continue;
    make(request, {next_refresh_});
    --left;
  }
  changes_ += renewed_.size();
  if (changes_ >= kResumEvery) resum();
}

UtilizationField NodeForecasts::at(std::size_t point) const {
  UtilizationField field;
  for (std::size_t d = 0; d < kDimensions; ++d) field[d] = expected_[point][d];
  return field;
}

}  // namespace evenkeel::scheduling
