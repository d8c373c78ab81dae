#pragma once
#include <optional>

#include "scheduling/policies/drs.h"
#include "scheduling/policies/horizon.h"
#include "scheduling/policies/online_learning.h"
#include "scheduling/policies/pending_rewards.h"

namespace evenkeel::scheduling {

// DRS on a live cluster: Drs's state, reward and network (drs.h), learning elsewhere (online_learning.h).
//
// Assumes what Drs does, and besides: that nobody else's pods are hurt by its trials (ExplorationLimits), and
// that samples come; without a fresh one of any node, or where a metric is no number, the rule decides and
// nothing is learnt.
//
// Until weights say that they have learnt enough, `horizon` decides, and its decisions are lessons too:
// Q-learning and SAC learn from anybody's. PPO does not: its update weighs an action by how likely its own
// policy was to take it, which for a rule's choice is unknown. There only what the network itself drew is a
// lesson; what it took without drawing, being its likeliest, teaches the critic alone.
//
// The reward is looked at `reward_after` the binding was seen, and only once the samples show it
// (samples_show). Failed bindings and pods that are gone teach nothing, and neither does what no sample shows
// in time; what is lost is counted by why (Lost).
class LiveDrs final : public PlacementPolicy, public LearnsFromOthers {
 public:
  // The link must outlive it.
  LiveDrs(DrsSettings settings, LiveLearningOptions options, LearnerLink& link);

  std::optional<NodeId> choose(const PlacementRequest& request, Random& random) override;
  void placed(const PlacementRequest& request, NodeId node) override;
  ScoreSheet explain(const PlacementRequest& request) override;
  Time review_at() const override { return due_.next(); }
  std::vector<EvictPod> review(const Retrospect& seen, Random& random) override;
  std::vector<LearningFigure> learning() const override;

  const RewardFigures& rewards() const { return figures_; }

 private:
  struct View {
    NodeMetrics pod_part{};
    std::vector<learning::Real> state;
    learning::Mask allowed;
  };
  struct Decision {
    std::size_t place = 0;
    Decider decider = Decider::rule;
    Decider counted_as = Decider::rule;  // in figures
    learning::Mask drawn_from{};
    learning::Real log_probability = 0;
    std::uint64_t sequence = 0;
  };
  struct Pending {
    Time at, decided;
    Time bound = Time::max();  // when it was first seen to be
    PodId pod;
    NodeId node;
    Usage expected;
    Decision decision;
    View view;
  };
  static constexpr std::size_t kMostPending = 512;  // more decisions at once than these teach nothing

  bool know_nodes(const ClusterState& cluster);
  std::optional<View> look(const PlacementRequest& request) const;
  bool on_policy() const { return settings_.learner.algorithm == DrsAlgorithm::ppo; }
  // The newest weights, where they are for these nodes.
  const LearntWeights* fitting_weights() const;
  std::vector<learning::Real> opinions(const LearntWeights& weights, const View& view) const;
  std::optional<Decision> explore(const PlacementRequest& request, const View& view, Random& random);
  std::optional<Decision> exploit(const View& view) const;
  void remember(const PlacementRequest& request, NodeId node, Decision decision, View view);
  void forget(PodId pod);
  std::vector<FreshPod> fresh_pods() const;
  enum class Outcome { learn, wait, stale, gone };
  Outcome outcome_of(Pending& pending, const Retrospect& seen) const;
  void learn_from(Pending pending, const Retrospect& seen);

  DrsSettings settings_;
  LiveLearningOptions options_;
  LearnerLink& link_;
  Horizon rule_;
  NodePlaces places_;
  std::shared_ptr<const LearntWeights> weights_;
  PendingRewards<Pending> due_;
  std::uint64_t decisions_ = 0;
  RewardFigures figures_;
  std::optional<std::pair<PodId, NodeId>> explored_;  // the last trial, for whoever asks why
};

}  // namespace evenkeel::scheduling
