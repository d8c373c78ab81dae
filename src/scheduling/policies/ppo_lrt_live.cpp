#include "scheduling/policies/ppo_lrt_live.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/check.h"

namespace evenkeel::scheduling {

using learning::Mask;
using learning::Real;

void PpoLrtLive::follow(const ClusterState& cluster, Time now) {
  weights_ = link_.weights();
  if (places_.size() == 0 && weights_) places_.adopt(weights_->nodes);
  if (places_.size() == 0 && cluster.node_count() > 0) {
    places_.begin_anew(cluster);
    link_.lay_out(places_.names());
    return;
  }
  // One for one, as when a machine is replaced, a place is taken.
  if (cluster.node_count() == places_.size()) {
    if (places_.follow(cluster).any) link_.lay_out(places_.names());
    return others_since_.reset();
  }
  if (!others_since_ || others_ != cluster.node_count()) {
    others_since_ = now;
    others_ = cluster.node_count();
  }
  if (cluster.node_count() == 0 || now - *others_since_ < kNodesSettle) return;
  places_.begin_anew(cluster);
  link_.lay_out(places_.names());
  others_since_.reset();
}

const learning::Network* PpoLrtLive::actor() const {
  const bool fits = weights_ && !others_since_ && weights_->nodes.size() == places_.size();
  return fits ? &weights_->network : nullptr;
}

bool PpoLrtLive::arrange(NodeLoads& loads, const ClusterState& cluster) const {
  if (loads.nodes.size() != places_.size() || !places_.is_current(cluster)) return false;
  NodeLoads arranged;
  for (const std::uint32_t slot : places_.slots()) {
    const auto found = std::find(loads.nodes.begin(), loads.nodes.end(), NodeId{slot});
    if (found == loads.nodes.end()) return false;
    const auto i = static_cast<std::size_t>(found - loads.nodes.begin());
    arranged.nodes.push_back(loads.nodes[i]);
    arranged.cpu.push_back(loads.cpu[i]);
    arranged.memory.push_back(loads.memory[i]);
  }
  loads = std::move(arranged);
  return true;
}

void PpoLrtLive::add_step(std::uint64_t number, Decider decider) {
  steps_[number].decider = decider;
  figures_.decided();
}

void PpoLrtLive::note_rule_step(std::uint64_t number) {
  add_step(number, Decider::rule);
  ++sequence_;  // what came before and what comes after are not neighbours
}

void PpoLrtLive::begin_step(std::uint64_t number, const PlacementRequest& request, const NodeLoads* loads,
                            const std::function<ScoreSheet()>& rule, Random& random) {
  explored_.reset();
  if (!loads || !actor()) return note_rule_step(number);
  if (may_explore(options_.explore, request.pod) && random.chance(options_.explore.share)) {
    const std::vector<std::uint8_t> close =
        close_to_best(rule(), request.feasible.size(), options_.explore.margin);
    close_.assign(2 * loads->nodes.size(), 0);
    std::size_t count = 0;
    for (std::size_t node = 0; node < loads->nodes.size(); ++node) {
      const std::uint8_t is_close = close[loads->nodes[node].slot];
      close_[2 * node] = is_close;  // nothing is cleared to see what happens
      count += is_close;
    }
    if (count > 1) {
      figures_.explored();
      explored_ = request.pod.id;
      return add_step(number, Decider::explored);
    }
  }
  if (!weights_->decides) return note_rule_step(number);
  add_step(number, Decider::learned);
}

int PpoLrtLive::act(std::span<const Real> state, const Mask& allowed, Random& random) {
  const learning::Vector outputs = actor()->forward(state);
  const std::span<const Real> logits{outputs.data(), static_cast<std::size_t>(outputs.size())};
  Lesson lesson{.state = {state.begin(), state.end()}, .allowed = Mask(allowed.size(), 0)};
  if (step_is(Decider::explored)) {
    for (std::size_t i = 0; i < allowed.size(); ++i) lesson.allowed[i] = allowed[i] && close_[i];
    const learning::ActionDistribution policy = learning::softmax(logits, lesson.allowed);
    lesson.action = policy.sample(random);
    lesson.log_probability = policy.log_probability[lesson.action];
  } else {
    lesson.action = learning::best_allowed(logits, allowed);
    EVENKEEL_CHECK(lesson.action >= 0);
    lesson.allowed[static_cast<std::size_t>(lesson.action)] = 1;
  }
  lesson.sequence = ++sequence_;
  const int action = lesson.action;
  const auto current = std::prev(steps_.end());
  if (const auto before = steps_.find(current->first - 1); before != steps_.end())
    if (before->second.next_state.empty()) before->second.next_state = lesson.state;
  current->second.lessons.push_back(std::move(lesson));
  return action;
}

void PpoLrtLive::teach(PpoLrtJudge& judge) {
  while (const std::optional<PpoLrtVerdict> verdict = judge.next_verdict()) {
    auto step = steps_.extract(verdict->step);
    EVENKEEL_CHECK(!step.empty());
    if (!verdict->known) {
      figures_.lost(verdict->why);
    } else if (!std::isfinite(verdict->reward)) {
      figures_.lost(Lost::not_finite);
    } else {
      figures_.add(step.mapped().decider, verdict->reward);
      teach(std::move(step.mapped()), verdict->reward);
    }
  }
}

void PpoLrtLive::teach(Step step, double reward) {
  for (std::size_t i = 0; i < step.lessons.size(); ++i) {
    Lesson& lesson = step.lessons[i];
    const bool is_last = i + 1 == step.lessons.size();
    lesson.reward = is_last ? reward : 0;  // a clearing is paid by what comes after it
    lesson.next_state = !is_last                   ? step.lessons[i + 1].state
                        : !step.next_state.empty() ? std::move(step.next_state)
                                                   : lesson.state;
    lesson.next_allowed = {};
    link_.teach(std::move(lesson));
  }
}

std::vector<LearningFigure> PpoLrtLive::figures() const {
  return figures_.figures(link_.progress(), options_.explore.share, decides(), steps_.size());
}

}  // namespace evenkeel::scheduling
