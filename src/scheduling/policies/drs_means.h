#pragma once
#include <memory>
#include <optional>

#include "learning/model_file.h"
#include "learning/shared_scorer.h"
#include "scheduling/policies/drs_encoding.h"
#include "scheduling/policies/input_check.h"
#include "scheduling/policies/policy.h"
#include "scheduling/policies/weighted_scores.h"

namespace evenkeel::scheduling {

// `drs-means`: DRS's six metrics learnt for what the paper's figures show, eq. 13 of utilisations averaged
// over time first. Its state therefore holds what DRS's lacks: how much each node has done so far. A node may
// be idle now if it was busy before, so evening out the past is worth more than evening out the moment.
//
// One small network rates every node alike (learning::SharedScorer), so a model serves any number of nodes.
// Per node and dimension it sees two numbers:
//   what placing the pod there changes in the deviation over nodes of the work done, under way and added:
//     utilisation times seconds, the past fading within kMemory, the future as long as pods are expected to
//     run
//   what placing it there changes in the deviation of utilisation now
//
// Assumes that lives can be predicted, at least their order of magnitude. Without a model, or a fresh sample
// of any node, or where a metric is no number, it decides by kube-default.
class DrsMeans final : public PlacementPolicy, public ShowsInputs {
 public:
  static constexpr std::string_view kEncoding = "drs-means";
  static constexpr int kNodeFeatures = 2 * static_cast<int>(kDimensions);
  static learning::ScorerShape shape(std::vector<int> hidden);

  DrsMeans() = default;  // without a model
  explicit DrsMeans(learning::SharedScorer scorer) : scorer_(std::move(scorer)) {}
  static Result<std::unique_ptr<DrsMeans>> from_model(const learning::Model& model);
  static learning::Model model_of(const learning::SharedScorer& scorer);

  std::optional<NodeId> choose(const PlacementRequest& request, Random& random) override;
  ScoreSheet explain(const PlacementRequest& request) override;
  SelfCheck self_check() const override { return check_.found(); }
  InputCheck& inputs() override { return check_; }
  // Looks at the nodes every few seconds, so that it knows what they did between two pods.
  Time review_at() const override { return next_look_; }
  std::vector<EvictPod> review(const Retrospect& seen, Random& random) override;

 private:
  void look(const ClusterState& cluster, Time now);
  bool rate(const PlacementRequest& request);
  NodeMetrics under_way(const PlacementRequest& request, NodeId node) const;

  std::optional<learning::SharedScorer> scorer_;
  Time looked_ = Time::min(), next_look_ = Time::max();
  std::vector<std::uint32_t> slots_;  // present nodes, ascending
  std::vector<NodeMetrics> now_;      // in step with slots_
  std::vector<NodeMetrics> done_;     // by NodeId::slot: utilisation times seconds
  std::vector<std::uint8_t> known_;   // by NodeId::slot: whether done_ means anything
  learning::Matrix features_;
  std::vector<float> scores_;
  InputCheck check_;
  WeightedScores fallback_;
};

// What each node's taking on `added` changes in the standard deviation over nodes of each dimension:
// changes[i][d] if node i takes added[i][d] on top of values[i][d].
std::vector<NodeMetrics> deviation_changes(std::span<const NodeMetrics> values,
                                           std::span<const NodeMetrics> added);

}  // namespace evenkeel::scheduling
