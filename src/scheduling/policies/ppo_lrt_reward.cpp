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
  steps_.emplace_back();
  steps_.back().at = now;
  next_look_ = std::min(next_look_, now + std::min(kLook, settle_));
}

void PpoLrtJudge::place(PodId pod, Time created) {
  EVENKEEL_CHECK(!steps_.empty());
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
      // Cleared away or lost: what it waited for nothing is its response here, and its successor has its own.
      step.response_sum += to_seconds((ended ? end->ended : seen.now) - placed.created);
      ++step.responses;
      return true;
    });
    if (!step.loads && seen.now - step.at >= settle_) {
      if (!loads) loads = loads_of(seen.cluster, {});
      step.loads = loads;
    }
    if (!step.loads) next_look_ = std::min(next_look_, step.at + settle_);
    if (!step.out.empty()) next_look_ = std::min(next_look_, seen.now + kLook);
  }
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
