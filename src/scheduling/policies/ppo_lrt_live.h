#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "scheduling/policies/horizon.h"
#include "scheduling/policies/online_learning.h"
#include "scheduling/policies/ppo_lrt_reward.h"
#include "scheduling/policies/ppo_lrt_state.h"

namespace evenkeel::scheduling {

// PPO-LRT's side of learning on a live cluster (online_learning.h): which weights are in force, which of its
// steps are trials, and what came of each.
//
// The reward has the pods' response times in it; PpoLrtJudge::look_live says what that is of pods that never
// end. Until weights have learnt enough, `horizon` decides; its decisions are judged for comparison and are
// no lessons, since PPO weighs an action by how likely its own policy was to take it. What the network took
// as its likeliest, without drawing, teaches the critic alone; the actor learns from trials, drawn from its
// own policy among the nodes that are close. Lessons are handed over as their rewards are known; the student
// sees by their numbers which follow each other.
//
// A network serves its own number of nodes. Where that changes the rule decides; after kNodesSettle with the
// same nodes another network begins.
class PpoLrtLive {
 public:
  static constexpr Duration kNodesSettle = std::chrono::minutes{10};

  PpoLrtLive(LiveLearningOptions options, LearnerLink& link) : options_(std::move(options)), link_(link) {}

  void follow(const ClusterState& cluster, Time now);  // weights and nodes
  const learning::Network* actor() const;              // where it is one for these nodes
  bool decides() const { return actor() && weights_->decides; }
  Horizon& rule() { return rule_; }
  // Puts loads into the order of the network's places; false: these are not its nodes.
  bool arrange(NodeLoads& loads, const ClusterState& cluster) const;

  // Who takes the step that begins, the judge's number of it given: loads are none where the network has
  // nothing to say. `rule` is asked for its scores only where a trial is due.
  void begin_step(std::uint64_t number, const PlacementRequest& request, const NodeLoads* loads,
                  const std::function<ScoreSheet()>& rule, Random& random);
  void note_rule_step(std::uint64_t number);
  bool explored(PodId pod) const { return explored_ == pod; }  // that very pod, last
  bool step_is(Decider decider) const { return !steps_.empty() && last_step().decider == decider; }
  int act(std::span<const learning::Real> state, const learning::Mask& allowed, Random& random);

  // Hands over the steps whose verdicts are known.
  void teach(PpoLrtJudge& judge);
  std::vector<LearningFigure> figures() const;
  const RewardFigures& rewards() const { return figures_; }

 private:
  struct Step {
    Decider decider = Decider::rule;
    std::vector<Lesson> lessons{};             // perhaps a clearing, then the placing
    std::vector<learning::Real> next_state{};  // of the network's step after it; none: that was not its own
  };
  void add_step(std::uint64_t number, Decider decider);
  const Step& last_step() const { return steps_.rbegin()->second; }
  void teach(Step step, double reward);

  LiveLearningOptions options_;
  LearnerLink& link_;
  Horizon rule_;
  NodePlaces places_;
  std::optional<Time> others_since_;  // since when the nodes are not the network's
  std::size_t others_ = 0;            // as many they are
  std::shared_ptr<const LearntWeights> weights_;
  std::map<std::uint64_t, Step> steps_;  // by the judge's numbers
  learning::Mask close_;                 // placing actions of the trial under way
  std::optional<PodId> explored_;
  std::uint64_t sequence_ = 0;
  RewardFigures figures_;
};

}  // namespace evenkeel::scheduling
