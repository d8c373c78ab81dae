#pragma once
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "learning/model_file.h"
#include "learning/shared_scorer.h"
#include "scheduling/policies/horizon.h"

namespace evenkeel::scheduling {

// What the learned scorer of `evenkeel` sees of a question, on top of what `horizon` predicts. Everything is
// relative (to capacities, to the average node, to one), so that one model serves clusters of any size, and
// every feature lies within kFeatureLimit whatever a metric claims; a NaN counts as 0.
//
//   item     the pod: planned use as a share of the average node (6), the chance that it still runs at three
//            moments ahead, whether it is endless, its bursts of CPU, how sure its CPU is
//   node     a node: expected utilisation at the three moments (18), its capacity against the average (6),
//            bursts it holds, how sure its CPU is
//   summary  all nodes: mean and spread of that utilisation (36), their number, their bursts
//
// A node's features change only when the node does: learning::CachedScorer makes use of it.
class EvenkeelEncoding {
 public:
  static constexpr std::string_view kName = "evenkeel-placement-1";
  static constexpr std::array<std::size_t, 3> kMoments{0, 2, 4};  // of NodeForecasts
  static constexpr int kItem = 12, kNode = 26, kSummary = 38;
  static constexpr float kFeatureLimit = 4;

  static learning::ScorerShape shape(std::vector<int> hidden);
  static std::vector<learning::FeatureRange> normalisation();

  // Call after horizon.rate(request). False: the average node has changed, and with it every node's features.
  bool update(const PlacementRequest& request, const Horizon& horizon);

  void item(const PlacementRequest& request, const Horizon& horizon, std::span<float> features) const;
  void node(const PlacementRequest& request, const Horizon& horizon, NodeId node,
            std::span<float> features) const;
  void summary(const PlacementRequest& request, const Horizon& horizon, std::span<float> features) const;

 private:
  struct Known {
    std::array<float, kDimensions> capacity{};
    float burst = 0;
    bool present = false;
  };

  std::vector<Known> known_;  // by NodeId::slot: what of it is in the sums
  std::array<double, kDimensions> capacity_{};
  double bursts_ = 0;
  std::array<double, kDimensions> average_{};  // capacity of the average node, as features were made with it
};

}  // namespace evenkeel::scheduling
