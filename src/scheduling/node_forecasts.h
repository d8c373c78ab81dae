#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "scheduling/imbalance.h"
#include "scheduling/placement_request.h"

namespace evenkeel::scheduling {

// What every node is expected to be used at, at a few moments ahead, given how long its pods are expected to
// live. Later moments count less, by exp(-t / horizon): the points are the middles of kPoints parts of equal
// weight.
//
// Forecasts are kept and made anew when the node changes or when they have aged; at most kRefreshes aged ones
// per decision, so that one decision in a large cluster never pays for all.
class NodeForecasts {
 public:
  static constexpr std::size_t kPoints = 5;

  // Brings the forecasts up to date for this question.
  void refresh(const PlacementRequest& request);
  std::span<const std::uint32_t> renewed() const { return renewed_; }  // slots made anew by the last refresh

  // Shares of capacity at a point, by node.
  UtilizationField at(std::size_t point) const;
  // Mean and variance over the nodes at a point. With many nodes they follow from what changed.
  Imbalance imbalance(std::size_t point, std::size_t nodes) const;
  // Peaks of CPU of what runs for ever, as a share of capacity, by node.
  std::span<const float> bursts() const { return bursts_; }
  const std::array<double, kPoints>& ahead_s() const { return ahead_; }
  static std::array<double, kPoints> moments_s(Duration horizon);

  // What a pod is planned for: what it uses, and a little of what it may use at worst. The rates of network
  // and disk are too bursty for their peaks to mean anything.
  static Usage planned(const Demand& demand);
  static double burst(const Demand& demand) { return std::max(demand.peak.of[kCpu], demand.mean.of[kCpu]); }

 private:
  static constexpr std::size_t kRefreshes = 8, kFewRefreshes = 3;  // the latter with many nodes
  static constexpr auto kCpu = static_cast<std::size_t>(Dimension::cpu);
  static constexpr double kPeakShare = 0.1;  // of the way from what a pod uses to its peak

  struct Forecast {
    std::uint64_t version = 0;
    Time made = Time::min();
  };

  static constexpr float kCentre = 0.25F;  // about where utilisations lie: squares stay small
  static constexpr std::size_t kResumEvery = 4096;
  struct Sums {
    double sum = 0, squares = 0;  // of what lies off the centre; absent nodes hold nothing
  };

  void put(std::size_t point, std::size_t dimension, std::uint32_t slot, float value);
  void resum();
  void make(const PlacementRequest& request, NodeId node);
  void forget(const PlacementRequest& request, NodeId node);

  std::vector<Forecast> forecasts_;
  std::array<std::array<std::vector<float>, kDimensions>, kPoints>
      expected_;  // utilisation by point and node
  std::array<std::array<Sums, kDimensions>, kPoints> sums_{};
  std::size_t changes_ = 0;
  std::vector<float> bursts_;
  std::array<double, kPoints> ahead_{};
  std::uint32_t next_refresh_ = 0;
  std::vector<std::uint32_t> renewed_;
};

}  // namespace evenkeel::scheduling
