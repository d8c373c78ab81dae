#include "scheduling/policies/marl_reward.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::scheduling {
namespace {

// In a cluster that is even so far the first small unevenness would count for everything (horizon.h).
constexpr double kSoft = 0.02;

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

// By how much a standard deviation over `nodes` grows when one that is at `used` goes up by `more`.
double growth(double variance, double mean, double used, double more, double nodes) {
  const double grown = more * (2 * (used - mean) + more * (1 - 1 / nodes)) / nodes;
  const double before = variance + kSoft * kSoft;
  return std::sqrt(std::max(0.0, before + grown)) - std::sqrt(before);
}

// The chance that a pod of that expected life still runs: lives differ by a tenth or so from what is said.
double still_runs(double life_s, double ahead_s) {
  if (life_s <= 0) return 1;
  prediction::Lifetime life{std::log(life_s), 0.1, false};
  return life.survival(0, ahead_s);
}

struct Later {
  double share = 1;  // of what pods of the others use, what is still there
  double pod = 1;    // the same of the pod in question
};
// Pods that began evenly over their lives end evenly.
Later later(const AgentView& view, std::size_t k) {
  const auto life = static_cast<double>(view.pod.life);
  if (life <= 0) return {};
  const double ahead = view.node.ahead_s[k];
  return {std::max(0.0, 1 - ahead / life), still_runs(life, ahead)};
}

double scaled_mean(double sum, double nodes) { return -nodes * sum / static_cast<double>(kDimensions); }

}  // namespace

double thesis_reward_of(double share_used) {
  if (share_used < 0.5) return share_used - 0.5;
  if (share_used <= 0.8) return share_used;
  if (share_used <= 0.9) return 0.8 - share_used;
  return -60;
}

double thesis_reward(std::span<const double> local, std::span<const double> global) {
  const auto mean = [](std::span<const double> shares) {
    double sum = 0;
    for (const double u : shares) sum += thesis_reward_of(u);
    return sum / static_cast<double>(shares.size());
  };
  return (mean(local) + mean(global)) / 2;
}

double thesis_reward(const OwnNode& node, const ClusterShares& cluster) {
  return thesis_reward(disk_as_one(shares_used(node)), disk_as_one(shares_used(cluster)));
}

double difference_reward(const OwnNode& node, const ClusterShares& cluster, const Usage& pod) {
  const auto nodes = static_cast<double>(cluster.nodes);
  if (nodes < 2) return 0;
  double sum = 0;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const double spread = static_cast<double>(cluster.spread[d]);
    const double used = share(node.used.of[d], node.capacity.of[d]);
    const double part = share(pod.of[d], node.capacity.of[d]);
    sum -= growth(spread * spread, static_cast<double>(cluster.used[d]), used, -part, nodes);
  }
  return scaled_mean(sum, nodes);
}

std::array<double, OwnNode::kMoments> expected_differences(const AgentView& view) {
  std::array<double, OwnNode::kMoments> differences{};
  const auto nodes = static_cast<double>(view.cluster.nodes);
  if (nodes < 2) return differences;
  for (std::size_t k = 0; k < OwnNode::kMoments; ++k) {
    const Later then = later(view, k);
    double sum = 0;
    for (std::size_t d = 0; d < kDimensions; ++d) {
      const double capacity = view.node.capacity.of[d];
      const double base = share(view.node.base.of[d], capacity);
      const double mean = base + then.share * (static_cast<double>(view.cluster.used[d]) - base);
      const double spread = static_cast<double>(view.cluster.spread[d]);
      sum += growth(then.share * spread * spread, mean, share(view.node.ahead[k].of[d], capacity),
                    then.pod * share(view.pod.expected.of[d], capacity), nodes);
    }
    differences[k] = scaled_mean(sum, nodes);
  }
  return differences;
}

double expected_difference_elsewhere(const AgentView& view) {
  const auto nodes = static_cast<double>(view.cluster.nodes);
  if (nodes < 2) return 0;
  double sum = 0;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const double mean = static_cast<double>(view.cluster.used[d]);
    const double spread = static_cast<double>(view.cluster.spread[d]);
    sum += growth(spread * spread, mean, mean + spread,
                  share(view.pod.expected.of[d], view.node.capacity.of[d]), nodes);
  }
  return scaled_mean(sum, nodes);
}

bool MarlDiary::settle(const AgentView& view, bool won, Time now) {
  // A difference is made by who has the pod; of the thesis's reward everybody has a share.
  if (!won && reward_.kind == MarlReward::difference) return true;
  if (due_.size() >= kMostPending) return false;
  due_.add({now + reward_.moments.front(), now, view.pod, encode(view, inputs_), won,
            expected_difference_elsewhere(view)});
  return true;
}

bool MarlDiary::forget(PodKey pod) {
  return due_.erase_if([&](const Pending& pending) { return pending.question.pod == pod; }) > 0;
}

std::vector<learning::Experience> MarlDiary::review(Time now, const AgentView& now_seen,
                                                    const UseOf& use_of) {
  std::vector<learning::Experience> complete;
  std::vector<Pending> later;
  const auto look = [&](Pending& pending) {
    if (reward_.kind == MarlReward::thesis) {
      complete.push_back({std::move(pending.state),
                          {},
                          pending.won ? kAccept : kReject,
                          thesis_reward(now_seen.node, now_seen.cluster),
                          encode({now_seen.node, now_seen.cluster, pending.question}, inputs_),
                          {}});
      return;
    }
    // A pod that has ended makes no difference any more.
    const std::optional<Usage> use = use_of(pending.question.pod);
    if (use) pending.sum += difference_reward(now_seen.node, now_seen.cluster, *use);
    if (++pending.looks < reward_.moments.size()) {
      pending.at = std::max(now, pending.decided + reward_.moments[pending.looks]);
      later.push_back(std::move(pending));
      return;
    }
    const double mean = kDifferenceScale * pending.sum / static_cast<double>(reward_.moments.size());
    const double far = reward_.delay_weight * static_cast<double>(pending.question.delay) / 100;
    constexpr auto kOver = learning::EpisodeEnd::terminal;
    // What rejecting is worth was known at once; it is told as often as the other, or its value would drift.
    complete.push_back(
        {pending.state, {}, kReject, kDifferenceScale * pending.elsewhere, pending.state, {}, kOver});
    complete.push_back({pending.state, {}, kAccept, mean - far, pending.state, {}, kOver});
  };
  due_.review(now, Duration{}, [&](Pending& pending) {
    look(pending);
    return false;
  });
  for (Pending& pending : later) due_.add(std::move(pending));
  return complete;
}

}  // namespace evenkeel::scheduling
