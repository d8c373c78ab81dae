#include "scheduling/policies/evenkeel_encoding.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::scheduling {
namespace {

constexpr float kShareScale = 5;       // utilisations differ by tenths, weights begin near one
constexpr double kSameAverage = 0.01;  // the average node may drift so far before all features are made anew
constexpr auto kCpu = static_cast<std::size_t>(Dimension::cpu);

float bounded(double value) {
  if (std::isnan(value)) return 0;
  return static_cast<float>(std::clamp(value, -static_cast<double>(EvenkeelEncoding::kFeatureLimit),
                                       static_cast<double>(EvenkeelEncoding::kFeatureLimit)));
}

}  // namespace

learning::ScorerShape EvenkeelEncoding::shape(std::vector<int> hidden) {
  return {kItem, kNode, kSummary, std::move(hidden)};
}

std::vector<learning::FeatureRange> EvenkeelEncoding::normalisation() {
  std::vector<learning::FeatureRange> ranges;
  const auto add = [&](const std::string& feature, double high) { ranges.push_back({feature, 0, high}); };
  for (const std::string_view d : kDimensionNames) add("pod." + std::string(d), 1 / kShareScale);
  for (const std::size_t k : kMoments) add("pod.survival_" + std::to_string(k), 1);
  for (const char* name : {"pod.endless", "pod.burst", "pod.deviation"}) add(name, 1);
  for (const std::size_t k : kMoments)
    for (const std::string_view d : kDimensionNames)
      add("node." + std::string(d) + "_" + std::to_string(k), 1 / kShareScale);
  for (const std::string_view d : kDimensionNames) add("node.capacity_" + std::string(d), 1);
  for (const char* name : {"node.bursts", "node.deviation"}) add(name, 1);
  for (const char* of : {"mean.", "spread."})
    for (const std::size_t k : kMoments)
      for (const std::string_view d : kDimensionNames)
        add(of + std::string(d) + "_" + std::to_string(k), 1 / kShareScale);
  for (const char* name : {"cluster.nodes", "cluster.bursts"}) add(name, 1);
  return ranges;
}

bool EvenkeelEncoding::update(const PlacementRequest& request, const Horizon& horizon) {
  const NodeColumns& columns = request.cluster.columns();
  known_.resize(std::max(known_.size(), columns.size()));
  for (const std::uint32_t slot : horizon.forecasts().renewed()) {
    Known now;
    now.present = columns.present[slot] != 0;
    if (now.present) {
      for (std::size_t d = 0; d < kDimensions; ++d)
        now.capacity[d] = columns.per_unit[d][slot] > 0 ? 1 / columns.per_unit[d][slot] : 0;
      now.burst = horizon.forecasts().bursts()[slot];
    }
    for (std::size_t d = 0; d < kDimensions; ++d)
      capacity_[d] += static_cast<double>(now.capacity[d]) - static_cast<double>(known_[slot].capacity[d]);
    bursts_ += static_cast<double>(now.burst) - static_cast<double>(known_[slot].burst);
    known_[slot] = now;
  }
  const auto nodes = static_cast<double>(request.cluster.node_count());
  bool same = true;
  for (std::size_t d = 0; d < kDimensions; ++d)
    same = same && std::abs(capacity_[d] / nodes - average_[d]) <= kSameAverage * average_[d];
  if (same) return true;
  for (std::size_t d = 0; d < kDimensions; ++d) average_[d] = capacity_[d] / nodes;
  return false;
}

void EvenkeelEncoding::item(const PlacementRequest& request, const Horizon& horizon,
                            std::span<float> features) const {
  const Usage planned = NodeForecasts::planned(request.demand);
  const prediction::Lifetime life = request.history.lifetime(request.pod);
  std::size_t at = 0;
  const auto share = [&](double amount, std::size_t d) { return average_[d] > 0 ? amount / average_[d] : 0; };
  for (std::size_t d = 0; d < kDimensions; ++d)
    features[at++] = bounded(kShareScale * share(planned.of[d], d));
  for (const std::size_t k : kMoments)
    features[at++] = bounded(life.survival(0, horizon.forecasts().ahead_s()[k]));
  features[at++] = life.endless ? 1.0F : 0.0F;
  features[at++] =
      life.endless ? bounded(kShareScale * share(NodeForecasts::burst(request.demand), kCpu)) : 0;
  features[at++] =
      bounded(kShareScale * share(std::sqrt(std::max(0.0, request.demand.variance.of[kCpu])), kCpu));
}

void EvenkeelEncoding::node(const PlacementRequest& request, const Horizon& horizon, NodeId node,
                            std::span<float> features) const {
  std::size_t at = 0;
  for (const std::size_t k : kMoments) {
    const UtilizationField field = horizon.forecasts().at(k);
    for (std::size_t d = 0; d < kDimensions; ++d) features[at++] = bounded(kShareScale * field[d][node.slot]);
  }
  const Known& known = known_[node.slot];
  for (std::size_t d = 0; d < kDimensions; ++d)
    features[at++] =
        average_[d] > 0 && known.capacity[d] > 0 ? bounded(average_[d] / known.capacity[d] - 1) : 0;
  features[at++] = bounded(known.burst);
  features[at++] = bounded(
      kShareScale *
      std::sqrt(std::max(0.0, static_cast<double>(request.cluster.columns().variance[kCpu][node.slot]))));
}

void EvenkeelEncoding::summary(const PlacementRequest& request, const Horizon& horizon,
                               std::span<float> features) const {
  std::size_t at = 0;
  for (const std::size_t k : kMoments)
    for (std::size_t d = 0; d < kDimensions; ++d)
      features[at++] = bounded(kShareScale * horizon.outlook(k).mean[d]);
  for (const std::size_t k : kMoments)
    for (std::size_t d = 0; d < kDimensions; ++d)
      features[at++] = bounded(kShareScale * std::sqrt(horizon.outlook(k).variance[d]));
  const auto nodes = static_cast<double>(request.cluster.node_count());
  features[at++] = bounded(std::log(nodes) / 4);
  features[at++] = bounded(bursts_ / nodes);
}

}  // namespace evenkeel::scheduling
