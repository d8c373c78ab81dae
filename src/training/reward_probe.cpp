#include "training/reward_probe.h"

#include <algorithm>
#include <cmath>

#include "scheduling/policies/drs_encoding.h"

namespace evenkeel::training {
namespace {

constexpr Duration kAfter = std::chrono::seconds{5};  // DRS's T_i

double reward_now(const scheduling::Retrospect& seen) {
  std::vector<std::uint32_t> slots;
  for (std::uint32_t slot = 0; slot < seen.cluster.columns().size(); ++slot)
    if (seen.cluster.has_node({slot})) slots.push_back(slot);
  const auto nodes = scheduling::node_metrics(seen.cluster, slots, {});
  if (!nodes) return std::nan("");
  const std::vector<std::uint8_t> all(slots.size(), 1);
  return reward_of(scheduling::DrsReward::drs, {*nodes, all, slots, seen.cluster, seen.history});
}

}  // namespace

std::optional<NodeId> RewardProbe::choose(const scheduling::PlacementRequest& request, Random& random) {
  const auto chosen = inner_.choose(request, random);
  if (chosen) due_.push_back(request.now + kAfter);
  return chosen;
}

Time RewardProbe::review_at() const {
  return due_.empty() ? inner_.review_at() : std::min(inner_.review_at(), due_.front());
}

std::vector<EvictPod> RewardProbe::review(const scheduling::Retrospect& seen, Random& random) {
  for (; !due_.empty() && due_.front() <= seen.now; due_.pop_front()) rewards_.push_back(reward_now(seen));
  return inner_.review_at() <= seen.now ? inner_.review(seen, random) : std::vector<EvictPod>{};
}

}  // namespace evenkeel::training
