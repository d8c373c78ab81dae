#include "training/node_agents_env.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "scheduling/policies/least_imbalance.h"

namespace evenkeel::training {
namespace {

using learning::JointExperience;
using scheduling::AgentDiaries;
using scheduling::AgentViews;
using scheduling::AgentWord;
using scheduling::PlacementRequest;

constexpr std::size_t kMostAsked = 512;

double imbalance_of(const ClusterShares& shares) {
  return std::accumulate(shares.spread.begin(), shares.spread.end(), 0.0) / static_cast<double>(kDimensions);
}

}  // namespace

NodeAgentsEnv::NodeAgentsEnv(const RandomWorld& world, NodeAgentsOptions options, std::uint64_t seed)
    : plan_(world),
      options_(std::move(options)),
      world_(plan_.plan, Random(seed), false),
      scheduler_(plan_.options),
      random_(Random(seed).fork("policy")),
      delays_(Random(seed).fork("delays")),
      diaries_(options_.inputs, options_.reward) {}

Time NodeAgentsEnv::wake_at() const {
  return std::min({scheduler_.wake_at(), diaries_.review_at(), joint_.next()});
}

bool NodeAgentsEnv::next() {
  EVENKEEL_CHECK(!question_);
  for (;;) {
    scheduling::Next next = scheduler_.next(world_.now());
    if (const auto* action = std::get_if<Action>(&next)) {
      world_.execute(*action);
    } else if (const auto* request = std::get_if<PlacementRequest>(&next)) {
      diaries_.forget(request->pod.id);  // asked about again: its last binding failed
      if (!scheduling::load_is_known(*request)) {
        world_.execute(scheduler_.commit(*request, *rule_.choose(*request, random_)));
        continue;
      }
      question_.emplace(*request);
      observe();
      return true;
    } else {
      const auto events = world_.wait_for_events(wake_at());
      if (!events) return false;
      for (const ClusterEvent& event : *events) scheduler_.observe(event, world_.now());
      review();
    }
  }
}

void NodeAgentsEnv::observe() {
  asked_ = views_.look(*question_, options_.inputs.encoding, kMostAsked, &random_);
  const bool talks = delays_.chance(options_.imagined_talkers);
  if (talks)
    for (AgentViews::View& view : asked_) view.seen.pod.delay = static_cast<float>(delays_.between(0, 60));
  agents_.clear();
  askable_.clear();
  states_.resize(static_cast<Eigen::Index>(input_count(options_.inputs.encoding)),
                 static_cast<Eigen::Index>(asked_.size()));
  std::size_t at = 0;
  const ClusterState& cluster = question_->cluster;
  for (std::uint32_t slot = 0; slot < cluster.columns().size(); ++slot) {
    if (!cluster.has_node({slot})) continue;
    Agent agent{{slot}, cluster.node({slot}).name, at < asked_.size() && asked_[at].node.slot == slot, {}};
    if (agent.may_accept) {
      const std::span<learning::Real> state = learning::column(states_, static_cast<Eigen::Index>(at));
      scheduling::encode(asked_[at].seen, options_.inputs, state);
      agent.observation.assign(state.begin(), state.end());
      askable_.push_back(agents_.size());
      ++at;
    }
    agents_.push_back(std::move(agent));
  }
}

NodeId NodeAgentsEnv::step(std::span<const AgentWord> words) {
  EVENKEEL_CHECK(question_ && words.size() == asked_.size());
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i].verdict == BidVerdict::accept && (!best || words[i].score > words[*best].score)) best = i;
  if (best) return commit(asked_[*best].node, best);
  ++unclaimed_;
  const NodeId node = *rule_.choose(*question_, random_);
  for (std::size_t i = 0; i < asked_.size(); ++i)
    if (asked_[i].node == node) best = i;
  return commit(node, best);
}

NodeId NodeAgentsEnv::give(std::size_t askable) {
  EVENKEEL_CHECK(question_ && askable < asked_.size());
  return commit(asked_[askable].node, askable);
}

NodeId NodeAgentsEnv::commit(NodeId node, std::optional<std::size_t> askable) {
  const Time now = world_.now();
  diaries_.settle(asked_, node, now);
  if (askable && asked_.size() > 1) {
    const double before = imbalance_of(asked_.front().seen.cluster);
    joint_.add({now + options_.reward.moments.front(), now, {states_, *askable, 0}, before});
  }
  world_.execute(scheduler_.commit(*question_, node));
  question_.reset();
  ++pods_;
  return node;
}

void NodeAgentsEnv::review() {
  const Time now = world_.now();
  if (diaries_.review_at() <= now)
    for (AgentDiaries::Completed& each : diaries_.review(scheduler_.cluster(), now))
      completed_.push_back(std::move(each));
  if (joint_.next() > now) return;
  const ClusterShares shares = scheduling::cluster_shares(scheduler_.cluster());
  std::vector<Joint> later;
  joint_.review(now, Duration{}, [&](Joint& joint) {
    joint.sum += imbalance_of(shares) - joint.before;
    const std::vector<Duration>& moments = options_.reward.moments;
    if (++joint.looks < moments.size()) {
      joint.at = std::max(now, joint.decided + moments[joint.looks]);
      later.push_back(std::move(joint));
      return false;
    }
    const double change = joint.sum / static_cast<double>(moments.size());
    joint.experience.reward = -scheduling::kDifferenceScale * static_cast<double>(shares.nodes) * change;
    completed_joint_.push_back(std::move(joint.experience));
    return false;
  });
  for (Joint& joint : later) joint_.add(std::move(joint));
}

std::vector<AgentDiaries::Completed> NodeAgentsEnv::experiences() { return std::exchange(completed_, {}); }

std::vector<JointExperience> NodeAgentsEnv::joint_experiences() {
  return std::exchange(completed_joint_, {});
}

RunResult NodeAgentsEnv::result() const {
  RunResult result;
  result.metrics = metrics_of(world_, plan_.plan.pods.size());
  return result;
}

}  // namespace evenkeel::training
