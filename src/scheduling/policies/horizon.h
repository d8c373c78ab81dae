#pragma once
#include <array>

#include "scheduling/imbalance.h"
#include "scheduling/policies/policy.h"
#include "scheduling/policies/weighted_scores.h"

namespace evenkeel::scheduling {

// `horizon`: where eq. 13 of DRS is least on average over the time ahead (sooner counting
// more), given how long running pods and the new one are expected to live. The best simple rule (LIMITS A).
//
// Assumes that expected use times the chance of still running is a fair stand-in for the
// load at a later moment. Nodes' forecasts are kept and made anew when the node changes or
// when they have aged; at most kRefreshes aged ones per decision, so that one decision in
// a large cluster never pays for all.
// Without a fresh sample of any node it decides by kube-default.
class Horizon final : public PlacementPolicy {
 public:
  std::optional<NodeId> choose(const PlacementRequest& request, Random& random) override;
  ScoreSheet explain(const PlacementRequest& request) override;

 private:
  static constexpr std::size_t kPoints = 6;
  static constexpr std::size_t kRefreshes = 16;

  struct Forecast {
    std::uint64_t version = 0;
    Time made = Time::min();
  };

  void rate(const PlacementRequest& request);
  void refresh(const PlacementRequest& request);
  void forecast(const PlacementRequest& request, NodeId node);
  double ahead_s(const PlacementRequest& request, std::size_t point) const;

  WeightedScores fallback_;
  std::vector<Forecast> forecasts_;
  std::array<std::array<std::vector<float>, kDimensions>, kPoints>
      expected_;  // utilisation by point and node
  std::array<double, kPoints> ahead_{};  // seconds
  std::uint32_t next_refresh_ = 0;
  std::vector<float> scores_;
};

}  // namespace evenkeel::scheduling
