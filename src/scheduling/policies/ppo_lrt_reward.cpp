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

void PpoLrtJudge::begin_step(Time now) {
  if (fresh_within_)
    for (std::size_t i = 0; i + kMostSteps <= steps_.size(); ++i) steps_[i].closed = true;
  steps_.emplace_back();
  steps_.back().at = now;
  next_look_ = std::min(next_look_, now + std::min(kLook, settle_));
}

void PpoLrtJudge::place(PodId pod, Time created) {
  EVENKEEL_CHECK(!steps_.empty());
  // Its last binding failed: it is this step's now.
  if (fresh_within_)
    for (Step& step : steps_)
      std::erase_if(step.out, [&](const Placed& placed) { return placed.pod == pod; });
  steps_.back().out.push_back({pod, created});
}

void PpoLrtJudge::review(const Retrospect& seen) {
  if (!seen.ended.empty()) last_response_s_ = to_seconds(seen.ended.back().ended - seen.ended.back().created);
  next_look_ = Time::max();
  std::optional<NodeLoads> loads;
  for (Step& step : steps_) {
    std::erase_if(step.out, [&](const Placed& placed) {
      const auto end = std::find_if(seen.ended.begin(), seen.ended.end(),
                                    [&](const EndedPod& ended) { return ended.pod == placed.pod; });
      const bool ended = end != seen.ended.end();
      if (!ended && seen.cluster.pod(placed.pod)) return false;
      if (!ended && fresh_within_) return true;
      // Cleared away or lost: what it waited for nothing is its response here, and its successor has its own.
      step.response_sum += to_seconds((ended ? end->ended : seen.now) - placed.created);
      ++step.responses;
      return true;
    });
    if (!step.loads && seen.now - step.at >= settle_ && may_look(step, seen)) {
      if (!loads) loads = loads_of(seen.cluster, {});
      step.loads = loads;
    }
    give_up_in_time(step, seen.now);
    if (!step.loads)
      next_look_ = std::min(
          next_look_, fresh_within_ ? std::max(step.at + settle_, seen.now + kLookAgain) : step.at + settle_);
    if (!step.out.empty()) next_look_ = std::min(next_look_, seen.now + kLook);
  }
}

bool PpoLrtJudge::may_look(Step& step, const Retrospect& seen) const {
  if (!fresh_within_) return true;
  const bool all_bound = std::all_of(step.out.begin(), step.out.end(), [&](const Placed& placed) {
    return seen.cluster.pod(placed.pod)->place == PodPlace::bound;
  });
  if (!all_bound) return false;
  if (step.bound == Time::max()) step.bound = seen.now;
  for (std::uint32_t slot = 0; slot < seen.cluster.columns().size(); ++slot)
    if (seen.cluster.has_node({slot}) && seen.cluster.measured_at({slot}) <= step.bound) return false;
  return true;
}

void PpoLrtJudge::give_up_in_time(Step& step, Time now) const {
  if (!fresh_within_) return;
  const bool is_stale = !step.loads && now - step.at >= settle_ + *fresh_within_;
  if (is_stale || now - step.at >= kLongRun) step.closed = true;
}

void PpoLrtJudge::finish() {
  for (Step& step : steps_) step.closed = true;
  next_look_ = Time::max();
}

std::optional<PpoLrtVerdict> PpoLrtJudge::next_verdict() {
  if (steps_.empty()) return std::nullopt;
  const Step& step = steps_.front();
  if (!step.closed && (!step.loads || !step.out.empty())) return std::nullopt;
  PpoLrtVerdict verdict{.known = step.loads && step.responses > 0};
  if (verdict.known)
    verdict = judge(weights_, step.loads->cpu, step.loads->memory,
                    step.response_sum / static_cast<double>(step.responses));
  steps_.pop_front();
  return verdict;
}

}  // namespace evenkeel::scheduling
