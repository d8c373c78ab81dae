#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "learning/algorithms/vdn.h"
#include "scheduling/policies/marl_brain.h"
#include "scheduling/policies/marl_views.h"
#include "scheduling/policies/weighted_scores.h"
#include "scheduling/scheduler.h"
#include "simulator/simulated_world.h"
#include "training/evaluation.h"
#include "training/random_worlds.h"

namespace evenkeel::training {

// Many agents in one simulated world, one for each node, in turns of a pod each: every agent observes, says a
// word, and one of them gets the pod; later each is told what came of it. Agents come and go with their
// nodes. One environment for independent and for cooperative learning, of the shape of PettingZoo's parallel
// one (observations, masks and rewards by agent).
struct NodeAgentsOptions {
  scheduling::MarlInputs inputs;
  scheduling::MarlRewardOptions reward;
  // Worlds rarely have pods that talk: of so many pods it is imagined that they do, each agent at another
  // network cost, so that agents learn what that means.
  double imagined_talkers = 0;
};

class NodeAgentsEnv {
 public:
  struct Agent {
    NodeId node;
    std::string name;
    bool may_accept = false;                  // its node passed every filter
    std::vector<learning::Real> observation;  // of those that may
  };

  // What a world is made of must outlive it.
  NodeAgentsEnv(const RandomWorld& world, NodeAgentsOptions options, std::uint64_t seed);

  // Goes on to the next pod that waits. False: the world has ended.
  bool next();
  // All there are now, by node; those that may not accept have nothing to say.
  std::span<const Agent> agents() const { return agents_; }
  const learning::Matrix& observations() const { return states_; }  // of those that may accept, in that order
  std::span<const std::size_t> askable() const { return askable_; }  // their places in agents()

  // Each askable agent's word, in order; the best of those that accept gets the pod, where nobody does
  // kube-default decides. Or whoever is named gets it. Returns whose it is.
  NodeId step(std::span<const scheduling::AgentWord> words);
  NodeId give(std::size_t askable);

  // What has become of earlier decisions since the last call.
  std::vector<scheduling::AgentDiaries::Completed> experiences();
  // The same for all agents together: how much less even the cluster was over the reward's moments than
  // before, times the number of nodes (value decomposition, learning/algorithms/vdn.h).
  std::vector<learning::JointExperience> joint_experiences();

  std::uint64_t pods() const { return pods_; }
  std::uint64_t unclaimed() const { return unclaimed_; }  // that nobody accepted
  RunResult result() const;                               // once it has ended

 private:
  struct Joint {
    Time at, decided;
    learning::JointExperience experience;
    double before = 0, sum = 0;
    std::size_t looks = 0;
  };
  void observe();
  void review();
  NodeId commit(NodeId node, std::optional<std::size_t> askable);
  Time wake_at() const;

  const RandomWorld& plan_;
  NodeAgentsOptions options_;
  simulator::SimulatedWorld world_;
  scheduling::Scheduler scheduler_;
  Random random_, delays_;
  scheduling::AgentViews views_;
  std::span<scheduling::AgentViews::View> asked_;
  scheduling::AgentDiaries diaries_;
  scheduling::PendingRewards<Joint> joint_;
  std::vector<scheduling::AgentDiaries::Completed> completed_;
  std::vector<learning::JointExperience> completed_joint_;
  std::optional<scheduling::PlacementRequest> question_;
  scheduling::WeightedScores rule_;
  std::vector<Agent> agents_;
  std::vector<std::size_t> askable_;
  learning::Matrix states_;
  std::uint64_t pods_ = 0, unclaimed_ = 0;
};

}  // namespace evenkeel::training
