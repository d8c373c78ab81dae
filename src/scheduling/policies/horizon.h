#pragma once
#include <algorithm>
#include <array>

#include "scheduling/imbalance.h"
#include "scheduling/policies/policy.h"
#include "scheduling/policies/weighted_scores.h"

namespace evenkeel::scheduling {

// `horizon`: where eq. 13 of DRS is least on average over the time ahead (sooner counting
// more), given how long running pods and the new one are expected to live: the best simple
// rule where pods come and go.
//
// Assumes that expected use times the chance of still running is a fair stand-in for the
// load at a later moment. Of what runs for ever, a share of its peaks counts too, its own or
// those of workloads of its shape (prediction/shape_classes.h). Nodes' forecasts are kept
// and made anew when the node changes or when they have aged; at most kRefreshes aged ones per decision, so
// that one decision in a large cluster never pays for all. Without a fresh sample of any node it decides by
// kube-default.
class Horizon final : public PlacementPolicy {
 public:
  std::optional<NodeId> choose(const PlacementRequest& request, Random& random) override;
  ScoreSheet explain(const PlacementRequest& request) override;

 private:
  static constexpr std::size_t kPoints = 5;
  static constexpr std::size_t kRefreshes = 8;
  static constexpr auto kCpu = static_cast<std::size_t>(Dimension::cpu);
  static constexpr double kSoft = 0.02;        // of a standard deviation
  static constexpr double kPeakShare = 0.1;    // of the way from what a pod uses to its peak
  static constexpr float kBurstWeight = 0.1F;  // beside 1 for each of the six dimensions

  struct Forecast {
    std::uint64_t version = 0;
    Time made = Time::min();
  };

  void rate(const PlacementRequest& request);
  void refresh(const PlacementRequest& request);
  void forecast(const PlacementRequest& request, NodeId node);
  void forget(const PlacementRequest& request, NodeId node);
  void add_point(const PlacementRequest& request, std::size_t point, std::span<float> scores) const;
  void add_bursts(const PlacementRequest& request, std::span<float> scores) const;
  static Imbalance softened(Imbalance imbalance);
  static Usage planned(const Demand& demand);
  static double burst(const Demand& demand) { return std::max(demand.peak.of[kCpu], demand.mean.of[kCpu]); }
  double ahead_s(const PlacementRequest& request, std::size_t point) const;

  WeightedScores fallback_;
  std::vector<Forecast> forecasts_;
  std::array<std::array<std::vector<float>, kDimensions>, kPoints>
      expected_;                         // utilisation by point and node
  std::vector<float> bursts_;            // peaks of CPU of what runs for ever, by node
  std::array<double, kPoints> ahead_{};  // seconds
  std::uint32_t next_refresh_ = 0;
  std::vector<float> scores_;
};

}  // namespace evenkeel::scheduling
