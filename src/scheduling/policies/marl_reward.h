#pragma once
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "learning/replay_buffer.h"
#include "scheduling/policies/marl_encoding.h"
#include "scheduling/policies/pending_rewards.h"

namespace evenkeel::scheduling {

// The thesis's reward (section 4.1.2). One resource's share u: below 50 % u - 0.5; up to 80 % u; above that
// 0.8 - u; above 90 % -60. Of CPU, memory and disk the mean; of node and cluster the mean again. Both rewards
// in the log of its chapter 5 come out to the last digit (marl_reward_test.cpp), which settles all but the
// middle range.
double thesis_reward_of(double share);
double thesis_reward(std::span<const double> local, std::span<const double> global);
double thesis_reward(const OwnNode& node, const ClusterShares& cluster);

// Ours: what having a pod does to the cluster's balance (DRS eq. 13). The difference reward (Wolpert and
// Tumer 2002): the imbalance there would be were this pod not on this node, less the imbalance there is,
// times the number of nodes, so that one pod counts alike in any cluster. Negative: the pod makes it less
// even.
double difference_reward(const OwnNode& node, const ClusterShares& cluster, const Usage& pod);
// Such differences are some hundredths: networks see and learn them times this.
inline constexpr double kDifferenceScale = 10;

// The same foreseen, at each of the node's moments: were the pod put here. What the others will be like is
// not known to an agent; they are taken to lose pods as fast as pods like this one end.
std::array<double, OwnNode::kMoments> expected_differences(const AgentView& view);
// And at a node that is fuller than the average by one spread in every dimension: who does worse than that
// had better reject.
double expected_difference_elsewhere(const AgentView& view);

enum class MarlReward { thesis, difference };
struct MarlRewardOptions {
  MarlReward kind = MarlReward::thesis;
  // After the decision; what is seen at each counts alike. The thesis looks once, after 15 s.
  std::vector<Duration> moments{std::chrono::seconds{15}};
  // Of a difference: what a network cost of a hundred, upstream's dearest, takes off.
  double delay_weight = 0;
};

// One agent's decisions that wait for their rewards, and what becomes of them.
class MarlDiary {
 public:
  static constexpr int kReject = 0, kAccept = 1;
  static constexpr std::size_t kMostPending = 256;  // more at once teach nothing

  MarlDiary(MarlInputs inputs, MarlRewardOptions reward) : inputs_(inputs), reward_(std::move(reward)) {}

  // Who got the pod is known: `won` says whether this node did. What is learnt from is what was done, not
  // what was said. False: it will teach nothing.
  bool settle(const AgentView& view, bool won, Time now);
  bool forget(PodKey pod);  // its binding failed; false: it was not waited for
  Time review_at() const { return due_.next(); }
  // The experiences that are complete by now. `now_seen`: this node and the cluster as they are (its pod is
  // not looked at); `use_of`: what a pod uses that went to this node, nothing where it has ended.
  using UseOf = std::function<std::optional<Usage>(const PodKey&)>;
  std::vector<learning::Experience> review(Time now, const AgentView& now_seen, const UseOf& use_of);
  void clear() { due_.clear(); }

 private:
  struct Pending {
    Time at, decided;
    PodQuestion question;
    std::vector<learning::Real> state;
    bool won = false;
    double elsewhere = 0;   // what rejecting is worth, where rewards are differences
    std::size_t looks = 0;  // of the reward's moments that have passed
    double sum = 0;
  };

  MarlInputs inputs_;
  MarlRewardOptions reward_;
  PendingRewards<Pending> due_;
};

}  // namespace evenkeel::scheduling
