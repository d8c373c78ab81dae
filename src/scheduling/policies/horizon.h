#pragma once
#include <algorithm>
#include <array>

#include "scheduling/imbalance.h"
#include "scheduling/node_forecasts.h"
#include "scheduling/policies/policy.h"
#include "scheduling/policies/weighted_scores.h"

namespace evenkeel::scheduling {

// `horizon`: where eq. 13 of DRS is least on average over the time ahead (sooner counting
// more), given how long running pods and the new one are expected to live: the best simple
// rule where pods come and go.
//
// Assumes that expected use times the chance of still running is a fair stand-in for the
// load at a later moment. Of what runs for ever, a share of its peaks counts too, its own or
// those of workloads of its shape (prediction/shape_classes.h). Without a fresh sample of any node it decides
// by kube-default.
class Horizon final : public PlacementPolicy {
 public:
  std::optional<NodeId> choose(const PlacementRequest& request, Random& random) override;
  ScoreSheet explain(const PlacementRequest& request) override;
  std::span<const float> scores(const PlacementRequest& request) override;

  // For policies that build upon this one: every node's score, and the forecasts behind it. Load must be
  // known.
  std::span<const float> rate(const PlacementRequest& request);
  const NodeForecasts& forecasts() const { return forecasts_; }
  const Imbalance& outlook(std::size_t point) const {
    return outlook_[point];
  }  // softened; of the last rate()

 private:
  static constexpr std::size_t kPoints = NodeForecasts::kPoints;
  static constexpr auto kCpu = static_cast<std::size_t>(Dimension::cpu);
  static constexpr double kSoft = 0.02;        // of a standard deviation
  static constexpr float kBurstWeight = 0.1F;  // beside 1 for each of the six dimensions

  void add_point(const PlacementRequest& request, std::size_t point, std::span<float> scores) const;
  // Points `from` up to `to` in one walk, to first order: where nodes are many.
  void add_slopes(const PlacementRequest& request, std::size_t from, std::size_t to,
                  std::span<float> scores) const;
  void add_bursts(const PlacementRequest& request, std::span<float> scores) const;
  static Imbalance softened(Imbalance imbalance);

  WeightedScores fallback_;
  NodeForecasts forecasts_;
  std::array<Imbalance, kPoints> outlook_;
  std::vector<float> scores_;
};

}  // namespace evenkeel::scheduling
