#pragma once
#include <vector>

#include "base/time.h"
#include "scheduling/policies/marl_encoding.h"

namespace evenkeel::scheduling {

// The thesis's reward (section 4.1.2, FACTS G). One resource's share u: below 50 % u - 0.5; up to 80 % u;
// above, 0.8 - u; above 90 %, -60. Of CPU, memory and disk the mean; of node and cluster the mean again. Its
// log's two rewards come out to the last digit (marl_reward_test.cpp).
double thesis_reward_of(double share);
double thesis_reward(std::span<const double> local, std::span<const double> global);

// Ours: what having a pod does to the cluster's balance (DRS eq. 13). The difference reward (Wolpert and
// Tumer 2002): the imbalance there is, against what it would be were this pod not on this node, times the
// number of nodes so that one pod counts alike in any cluster. Negative: the pod makes it less even.
// Who rejected changed nothing: 0.
double difference_reward(const OwnNode& node, const ClusterShares& cluster, const Usage& pod);

enum class MarlReward { thesis, difference };
struct MarlRewardOptions {
  MarlReward kind = MarlReward::thesis;
  // After the decision; what is seen at each counts alike. The thesis looks once, after 15 s.
  std::vector<Duration> moments{std::chrono::seconds{15}};
};

}  // namespace evenkeel::scheduling
