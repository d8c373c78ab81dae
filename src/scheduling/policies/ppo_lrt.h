#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "learning/algorithms/ppo.h"
#include "scheduling/policies/input_check.h"
#include "scheduling/policies/ppo_lrt_live.h"
#include "scheduling/policies/ppo_lrt_reward.h"
#include "scheduling/policies/ppo_lrt_state.h"
#include "scheduling/policies/weighted_scores.h"

namespace evenkeel::scheduling {

struct PpoLrtOptions {
  std::string name = "ppo-lrt";      // of the policy, and of the encoding of its models
  bool ordered = false;              // with LRT's order and hold-back
  std::size_t pods_per_action = 10;  // one action with order: there hold-back sets the pace
  PpoLrtReward reward;
  Duration settle{std::chrono::seconds{10}};  // from placing to the reward's look at the cluster
  double cleared_share = 0.25;                // of a node's pods, by one load control action
  Duration clear_every{std::chrono::minutes{1}};
  bool load_control = true;  // may clear nodes at all
};

// `ppo-lrt`: seed paper 001. A small network sees every node's load, the pod and the last response time
// (eq. 8-10) and gives a probability to each of 2n actions (eq. 11); reward eq. 12-14 (ppo_lrt_reward.h).
// `ppo-lrt-ordered`: the same with what the paper calls LRT and leaves to the reward: waiting pods go
// shortest first and nodes are given no more than they can run (`shortest-first`); the network chooses among
// the nodes that are open.
//
// Assumes a cluster of the size it was trained for, and fresh readings. Without one of any node, in a cluster
// of another size and without a model kube-default decides (among the open nodes).
//
// An action stands for ten pods, which go to the same node; the next is taken once readings show them (or
// after 15 s), as in training: decided on one and the same reading, pods that come together would all go the
// same way.
//
// Load control: an action that clears a node ends the youngest quarter of the pods that run there, which lose
// least; they are queued again. It is allowed on nodes above a limit of the reward, never takes a node's last
// pod, and each node at most once a minute: the older pods always run to their end, so nobody starves. The
// pod in question is then placed by a second draw among the nodes. Deviations: docs/algorithms/ppo-lrt.md.
class PpoLrt final : public PlacementPolicy, public LearnsFromOthers, public ShowsInputs {
 public:
  // Takes the likeliest action. Null: nothing was learnt.
  PpoLrt(PpoLrtOptions options, std::shared_ptr<const learning::Network> actor);
  // In training: draws actions, and keeps them and what came of them until finish_episode. The learner must
  // outlive it.
  PpoLrt(PpoLrtOptions options, const learning::Ppo& learner);
  // On a live cluster: decides by published weights, and hands over what came of it (ppo_lrt_live.h). The
  // link must outlive it.
  PpoLrt(PpoLrtOptions options, LiveLearningOptions live, LearnerLink& link);

  std::optional<NodeId> choose(const PlacementRequest& request, Random& random) override;
  void placed(const PlacementRequest& request, NodeId node) override;
  ScoreSheet explain(const PlacementRequest& request) override;
  Time review_at() const override;
  std::vector<EvictPod> review(const Retrospect& seen, Random& random) override;
  std::vector<LearningFigure> learning() const override;
  SelfCheck self_check() const override { return check_.found(); }
  InputCheck& inputs() override { return check_; }

  struct Episode {
    std::vector<PpoLrtVerdict> verdicts;   // one per step that could be judged
    std::vector<learning::PpoStep> steps;  // of those, what the network decided: to learn from
  };
  Episode finish_episode();
  std::size_t clearings() const { return clearings_; }

 private:
  struct View {
    NodeLoads loads;
    std::vector<learning::Real> state;
    learning::Mask allowed;  // of 2n actions
  };
  bool find_open(const PlacementRequest& request);
  std::optional<View> look(const PlacementRequest& request);  // nothing: not to be judged by the network
  bool may_clear(const PlacementRequest& request, const NodeLoads& loads, std::size_t node) const;
  bool step_goes_on(Time now) const;
  bool must_wait(Time now) const;
  PlacementRequest among_open(const PlacementRequest& request) const;
  NodeId draw(const PlacementRequest& request, View view, Random& random);
  int act(const View& view, Random& random);
  void begin_step(const PlacementRequest& request, const std::optional<View>& view, Random& random);
  PlacementPolicy& otherwise() { return live_ ? static_cast<PlacementPolicy&>(live_->rule()) : otherwise_; }
  bool judges() const { return learner_ || live_; }
  const learning::Network* actor() const;
  Time& last_cleared(NodeId node);

  PpoLrtOptions options_;
  std::shared_ptr<const learning::Network> actor_;
  const learning::Ppo* learner_ = nullptr;
  WeightedScores otherwise_;
  std::vector<std::uint8_t> open_;
  std::size_t open_count_ = 0;
  UnseenPods unseen_;
  // The action under way: where its pods go, how many more may, since when.
  std::optional<NodeId> step_node_;
  std::size_t step_left_ = 0;
  Time step_at_{};
  double last_response_s_ = 0;
  Time next_look_ = Time::max();

  std::optional<NodeId> to_clear_;
  Time clear_at_ = Time::max();
  std::vector<Time> last_cleared_;  // by NodeId::slot
  std::size_t clearings_ = 0;

  // In training.
  PpoLrtJudge judge_;
  std::vector<std::vector<learning::PpoStep>> made_;  // by step: perhaps a clearing, then the placing
  std::unique_ptr<PpoLrtLive> live_;                  // none but on a live cluster
  InputCheck check_;
};

// From a model trained for it; refuses one that is another's, and says why. Null: kube-default decides.
Result<std::unique_ptr<PlacementPolicy>> make_ppo_lrt(const learning::Model* model);
Result<std::unique_ptr<PlacementPolicy>> make_ppo_lrt_ordered(const learning::Model* model);

std::string ppo_lrt_encoding(const PpoLrtOptions& options, std::size_t nodes);

}  // namespace evenkeel::scheduling
