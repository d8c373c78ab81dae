#include "scheduling/policies/online_learning.h"

#include <algorithm>

namespace evenkeel::scheduling {
namespace {

constexpr std::uint64_t kRemembered = 50;  // a plain mean of as many, then one in which the older fade

std::vector<std::string> present_names(const ClusterState& cluster) {
  std::vector<std::string> names;
  for (std::uint32_t slot = 0; slot < cluster.columns().size(); ++slot)
    if (cluster.has_node({slot})) names.push_back(cluster.node({slot}).name);
  return names;
}

}  // namespace

void RewardFigures::add(Decider decider, double reward) {
  Mean& mean = mean_[static_cast<std::size_t>(decider)];
  ++mean.count;
  mean.value += (reward - mean.value) / static_cast<double>(std::min(mean.count, kRemembered));
}

std::vector<LearningFigure> RewardFigures::figures(const LearnerProgress& progress, double share,
                                                   bool decides, std::size_t waiting) const {
  const std::uint64_t learned = rewards(Decider::learned), rule = rewards(Decider::rule);
  const auto count = [](std::uint64_t n) { return static_cast<double>(n); };
  std::vector<LearningFigure> figures;
  if (learned > 0) figures.push_back({"reward", reward(Decider::learned)});
  if (rule > 0) figures.push_back({"rule_reward", reward(Decider::rule)});
  for (const LearningFigure& figure :
       std::initializer_list<LearningFigure>{{"loss", progress.loss},
                                             {"epsilon", share},
                                             {"decides", decides ? 1.0 : 0.0},
                                             {"decisions", count(decisions_)},
                                             {"waiting", count(waiting)},
                                             {"rewards", count(learned)},
                                             {"rule_rewards", count(rule)},
                                             {"explored_rewards", count(rewards(Decider::explored))},
                                             {"explored", count(explored_)},
                                             {"lessons", count(progress.lessons)},
                                             {"updates", count(progress.updates)},
                                             {"queue_dropped", count(progress.dropped)},
                                             {"refused", count(progress.refused)},
                                             {"rolled_back", count(progress.rolled_back)},
                                             {"restarts", count(progress.restarts)},
                                             {"checkpoints", count(progress.checkpoints)},
                                             {"checkpoint_failures", count(progress.checkpoint_failures)},
                                             {"weights_age_s", progress.weights_age_s}})
    figures.push_back(figure);
  for (std::size_t why = 0; why < kLostReasons; ++why)
    figures.push_back({kLostNames[why], count(lost_[why])});
  return figures;
}

bool samples_show(const Retrospect& seen, Time bound, std::span<const NodeId> concerned) {
  for (std::uint32_t slot = 0; slot < seen.cluster.columns().size(); ++slot) {
    const NodeId node{slot};
    if (!seen.cluster.has_node(node) || seen.cluster.measured_at(node) > bound) continue;
    const Time measured = seen.cluster.measured_at(node);
    const bool is_silent = measured == Time::min() || seen.now - measured > seen.options.stale_after;
    if (!is_silent || std::find(concerned.begin(), concerned.end(), node) != concerned.end()) return false;
  }
  return true;
}

bool NodePlaces::is_current(const ClusterState& cluster) const {
  std::size_t there = 0;
  for (std::size_t place = 0; place < slots_.size(); ++place) {
    const std::uint32_t slot = slots_[place];
    if (slot == kNobody || !cluster.has_node({slot}) || cluster.node({slot}).name != names_[place]) continue;
    ++there;
  }
  return !slots_.empty() && there == cluster.node_count();
}

void NodePlaces::find_slots(const ClusterState& cluster) {
  slots_.assign(names_.size(), kNobody);
  for (std::size_t place = 0; place < names_.size(); ++place)
    if (const auto node = cluster.node_named(names_[place]); node && cluster.has_node(*node))
      slots_[place] = node->slot;
}

void NodePlaces::begin_anew(const ClusterState& cluster) {
  names_ = present_names(cluster);
  find_slots(cluster);
}

NodePlaces::Change NodePlaces::follow(const ClusterState& cluster) {
  if (is_current(cluster)) return {};
  find_slots(cluster);
  std::vector<std::string> joined;
  for (std::string& name : present_names(cluster))
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) joined.push_back(std::move(name));
  if (joined.empty()) return {};
  if (joined.size() > absent()) {
    begin_anew(cluster);
    return {true, true};
  }
  for (std::size_t place = 0, next = 0; next < joined.size(); ++place)
    if (slots_[place] == kNobody) names_[place] = std::move(joined[next++]);
  find_slots(cluster);
  return {true, false};
}

std::optional<std::size_t> NodePlaces::place_of(NodeId node) const {
  const auto found = std::find(slots_.begin(), slots_.end(), node.slot);
  if (found == slots_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - slots_.begin());
}

std::size_t NodePlaces::absent() const {
  return static_cast<std::size_t>(std::count(slots_.begin(), slots_.end(), kNobody));
}

}  // namespace evenkeel::scheduling
