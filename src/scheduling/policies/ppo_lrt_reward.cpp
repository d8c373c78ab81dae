#include "scheduling/policies/ppo_lrt_reward.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace evenkeel::scheduling {

double deviation(std::span<const double> loads) {
  if (loads.empty()) return 0;
  const auto n = static_cast<double>(loads.size());
  double mean = 0, squares = 0;
  for (const double load : loads) mean += load / n;
  for (const double load : loads) squares += (load - mean) * (load - mean);
  return std::sqrt(squares / n);
}

double excess_above(double limit, std::span<const double> loads) {
  double sum = 0;
  for (const double load : loads) sum += std::max(0.0, load - limit);
  return sum;
}

PpoLrtVerdict judge(const PpoLrtReward& weights, std::span<const double> cpu, std::span<const double> memory,
                    double response_s) {
  PpoLrtVerdict verdict{0, deviation(cpu), deviation(memory), 0, response_s};
  verdict.penalty = excess_above(weights.cpu_limit, cpu) + excess_above(weights.memory_limit, memory);
  const auto inverse = [&](double sigma) { return 1 / std::max(sigma, weights.least_sigma); };
  verdict.reward = weights.alpha * (inverse(verdict.sigma_cpu) + inverse(verdict.sigma_memory)) -
                   weights.beta * verdict.penalty - weights.gamma * response_s;
  return verdict;
}

std::uint64_t PpoLrtJudge::begin_step(Time now) {
  if (fresh_within_)
    for (std::size_t i = 0; i + kMostSteps <= steps_.size(); ++i) {
      steps_[i].closed = true;
      steps_[i].why = Lost::crowded;
    }
  steps_.push_back({.number = ++begun_, .at = now});
  next_look_ = std::min(next_look_, now + std::min(kLook, settle_));
  return begun_;
}

void PpoLrtJudge::place(PodId pod, NodeId node, Time created) {
  EVENKEEL_CHECK(!steps_.empty());
  // Its last binding failed: it is this step's now.
  if (fresh_within_)
    for (Step& step : steps_)
      std::erase_if(step.out, [&](const Placed& placed) { return placed.pod == pod; });
  steps_.back().out.push_back({pod, node, created});
}

void PpoLrtJudge::note_ends(Step& step, const Retrospect& seen) const {
  std::erase_if(step.out, [&](const Placed& placed) {
    const auto end = std::find_if(seen.ended.begin(), seen.ended.end(),
                                  [&](const EndedPod& ended) { return ended.pod == placed.pod; });
    if (end != seen.ended.end()) {
      step.respond(to_seconds(end->ended - placed.created));
      return true;
    }
    const PodRecord* record = seen.cluster.pod(placed.pod);
    if (fresh_within_)  // a binding that failed, or that somebody else made
      return !record || record->place == PodPlace::pending || record->node != placed.node;
    if (record) return false;
    // Cleared away or lost: what it waited for nothing is its response here, and its successor has its own.
    step.respond(to_seconds(seen.now - placed.created));
    return true;
  });
}

void PpoLrtJudge::note_those_that_run_on(Step& step, const Retrospect& seen) const {
  std::erase_if(step.out, [&](const Placed& placed) {
    const PodRecord& record = *seen.cluster.pod(placed.pod);
    if (!record.started) return false;
    const prediction::Lifetime life = seen.history.lifetime(record.pod);
    if (!life.endless && life.median_s() <= to_seconds(kLongRun)) return false;
    step.respond(std::max(0.0, to_seconds(record.since - placed.created)));
    return true;
  });
}

void PpoLrtJudge::review(const Retrospect& seen) {
  if (!seen.ended.empty()) last_response_s_ = to_seconds(seen.ended.back().ended - seen.ended.back().created);
  next_look_ = Time::max();
  std::optional<NodeLoads> loads;
  for (Step& step : steps_) {
    note_ends(step, seen);
    if (!step.loads && seen.now - step.at >= settle_ && may_look(step, seen)) {
      if (!loads) loads = loads_of(seen.cluster, {});
      step.loads = loads;
    }
    if (fresh_within_ && step.loads) note_those_that_run_on(step, seen);
    give_up_in_time(step, seen.now);
    if (!step.loads)
      next_look_ = std::min(
          next_look_, fresh_within_ ? std::max(step.at + settle_, seen.now + kLookAgain) : step.at + settle_);
    if (!step.out.empty()) next_look_ = std::min(next_look_, seen.now + kLook);
  }
}

bool PpoLrtJudge::may_look(Step& step, const Retrospect& seen) const {
  if (!fresh_within_) return true;
  std::vector<NodeId> nodes;
  for (const Placed& placed : step.out) {
    if (seen.cluster.pod(placed.pod)->place != PodPlace::bound) return false;
    nodes.push_back(placed.node);
  }
  if (step.bound == Time::max()) step.bound = seen.now;
  return samples_show(seen, step.bound, nodes);
}

void PpoLrtJudge::give_up_in_time(Step& step, Time now) const {
  if (!fresh_within_ || step.closed) return;
  const bool is_left_alone = step.out.empty() && step.responses == 0;
  const bool is_stale = !step.loads && now - step.at >= settle_ + *fresh_within_;
  if (!is_left_alone && !is_stale && now - step.at < kLongRun) return;
  step.closed = true;
  step.why = is_left_alone ? Lost::gone : Lost::stale;
  if (step.loads)
    for (const Placed& placed : step.out) step.respond(to_seconds(now - placed.created));
}

void PpoLrtJudge::finish() {
  for (Step& step : steps_) step.closed = true;
  next_look_ = Time::max();
}

std::optional<PpoLrtVerdict> PpoLrtJudge::next_verdict() {
  const auto last = fresh_within_ || steps_.empty() ? steps_.end() : steps_.begin() + 1;
  const auto found = std::find_if(steps_.begin(), last, [](const Step& step) { return step.is_settled(); });
  if (found == last) return std::nullopt;
  PpoLrtVerdict verdict{.known = found->loads && found->responses > 0};
  if (verdict.known)
    verdict = judge(weights_, found->loads->cpu, found->loads->memory,
                    found->response_sum / static_cast<double>(found->responses));
  verdict.step = found->number;
  verdict.why = found->why;
  steps_.erase(found);
  return verdict;
}

}  // namespace evenkeel::scheduling
