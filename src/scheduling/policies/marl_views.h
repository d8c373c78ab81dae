#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scheduling/policies/marl_encoding.h"
#include "scheduling/policies/marl_reward.h"
#include "scheduling/policies/policy.h"

namespace evenkeel::scheduling {

// Where one process stands for all agents, a simulation: what each of them sees of a question.
class AgentViews {
 public:
  struct View {
    NodeId node;
    AgentView seen;
  };
  // Of the feasible nodes, in their order; of more than `most` so many by lot, where there is a Random. Lent
  // until the next look.
  std::span<View> look(const PlacementRequest& request, MarlEncoding encoding, std::size_t most,
                       Random* random);

 private:
  NodeForecasts forecasts_;
  std::vector<View> views_;
};

// And the decisions that each of them waits for.
class AgentDiaries {
 public:
  AgentDiaries(MarlInputs inputs, MarlRewardOptions reward) : inputs_(inputs), reward_(std::move(reward)) {}

  void settle(std::span<const AgentViews::View> asked, NodeId winner, Time now);
  void forget(PodId pod);
  Time review_at() const { return next_; }
  struct Completed {
    NodeId node;
    learning::Experience experience;
  };
  // What is complete by now, by node.
  std::vector<Completed> review(const ClusterState& cluster, Time now);
  void clear();

 private:
  MarlInputs inputs_;
  MarlRewardOptions reward_;
  std::vector<std::optional<MarlDiary>> diaries_;  // by NodeId::slot
  Time next_ = Time::max();
};

}  // namespace evenkeel::scheduling
