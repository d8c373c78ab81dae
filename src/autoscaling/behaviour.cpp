#include "autoscaling/behaviour.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>

namespace evenkeel::autoscaling {
namespace {

using std::chrono::seconds;
using Changes = std::vector<BehaviourMemory::Change>;
using Limit = ScalingRules::Limit;

constexpr Duration kDownWindow = seconds{300};
constexpr std::array kUpLimits = {Limit{Limit::Kind::pods, 4, seconds{15}},
                                  Limit{Limit::Kind::percent, 100, seconds{15}}};
constexpr std::array kDownLimits = {Limit{Limit::Kind::percent, 100, seconds{15}}};

std::span<const Limit> up_limits(const ScalingRules& rules) {
  return rules.limits.empty() ? std::span<const Limit>(kUpLimits) : rules.limits;
}
std::span<const Limit> down_limits(const ScalingRules& rules) {
  return rules.limits.empty() ? std::span<const Limit>(kDownLimits) : rules.limits;
}

void say(std::vector<ScalingReason>& reasons, std::string rule, std::int32_t replicas, std::string text) {
  reasons.push_back({std::move(rule), replicas, std::move(text)});
}

std::string seconds_text(Duration duration) {
  return std::to_string(std::llround(to_seconds(duration))) + " s";
}

// Beyond 32 bits upstream's answer is whatever the processor makes of it; ours is the most there is.
std::int32_t whole(double replicas) {
  constexpr double kMost = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::clamp(replicas, -kMost, kMost));
}

void remember(BehaviourMemory& memory, std::optional<std::size_t> place, std::int32_t desired, Time now) {
  if (place)
    memory.recommended[*place] = {desired, now};
  else
    memory.recommended.push_back({desired, now});
}

// The highest of the window; its edge still counts.
std::int32_t stabilise_plainly(const ScalingStep& step, BehaviourMemory& memory) {
  const Time cutoff = step.now - kDownWindow;
  std::int32_t highest = step.desired;
  std::optional<std::size_t> old;
  for (std::size_t i = 0; i < memory.recommended.size(); ++i) {
    const auto& earlier = memory.recommended[i];
    if (earlier.at < cutoff)
      old = i;
    else
      highest = std::max(highest, earlier.replicas);
  }
  remember(memory, old, step.desired, step.now);
  return highest;
}

// Between the lowest of the window upwards and the highest of the window downwards; edges no longer count.
std::int32_t stabilise(const ScalingBehaviour& behaviour, const ScalingStep& step, BehaviourMemory& memory) {
  const Time up_cutoff = step.now - behaviour.up.stabilisation.value_or(Duration{});
  const Time down_cutoff = step.now - behaviour.down.stabilisation.value_or(kDownWindow);
  std::int32_t lowest = step.desired, highest = step.desired;
  std::optional<std::size_t> old;
  for (std::size_t i = 0; i < memory.recommended.size(); ++i) {
    const auto& earlier = memory.recommended[i];
    if (earlier.at > up_cutoff) lowest = std::min(lowest, earlier.replicas);
    if (earlier.at > down_cutoff) highest = std::max(highest, earlier.replicas);
    if (earlier.at < up_cutoff && earlier.at < down_cutoff) old = i;
  }
  remember(memory, old, step.desired, step.now);
  std::int32_t stable = step.current;
  if (stable < lowest) stable = lowest;
  if (stable > highest) stable = highest;
  return stable;
}

std::int32_t changed_within(Duration period, const Changes& changes, Time now) {
  std::int32_t sum = 0;
  for (const auto& change : changes)
    if (change.at > now - period) sum += change.replicas;
  return sum;
}

// What the workload had when the limit's period began, were it for our own changes alone.
std::int32_t at_period_start(const Limit& limit, std::int32_t current, const BehaviourMemory& memory,
                             Time now) {
  return current - changed_within(limit.period, memory.up, now) +
         changed_within(limit.period, memory.down, now);
}

std::int32_t up_limit(const ScalingRules& rules, const ScalingStep& step, const BehaviourMemory& memory) {
  if (rules.select == ScalingRules::Select::disabled) return step.current;
  const bool least = rules.select == ScalingRules::Select::least;
  std::int32_t result =
      least ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::int32_t>::min();
  for (const Limit& limit : up_limits(rules)) {
    const std::int32_t start = at_period_start(limit, step.current, memory, step.now);
    const std::int32_t allowed = limit.kind == Limit::Kind::pods
                                     ? start + limit.value
                                     : whole(std::ceil(start * (1 + static_cast<double>(limit.value) / 100)));
    result = least ? std::min(result, allowed) : std::max(result, allowed);
  }
  return std::max(result, step.current);  // what is already there is never too much
}

std::int32_t down_limit(const ScalingRules& rules, const ScalingStep& step, const BehaviourMemory& memory) {
  if (rules.select == ScalingRules::Select::disabled) return step.current;
  const bool least = rules.select == ScalingRules::Select::least;
  std::int32_t result =
      least ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int32_t>::max();
  for (const Limit& limit : down_limits(rules)) {
    const std::int32_t start = at_period_start(limit, step.current, memory, step.now);
    const std::int32_t allowed = limit.kind == Limit::Kind::pods
                                     ? start - limit.value
                                     : whole(start * (1 - static_cast<double>(limit.value) / 100));
    result = least ? std::max(result, allowed) : std::min(result, allowed);
  }
  return std::min(result, step.current);
}

// Twice as many or four, as one answer may be wrong.
std::int32_t limit_plainly(const ScalingStep& step, std::int32_t stable,
                           std::vector<ScalingReason>& reasons) {
  const std::int32_t limit = whole(std::max(2.0 * step.current, 4.0));
  const std::int32_t most = std::min(step.max_replicas, limit);
  if (stable < step.min_replicas) {
    say(reasons, "bounds", step.min_replicas, "not below minReplicas");
    return step.min_replicas;
  }
  if (stable > most) {
    if (step.max_replicas > limit)
      say(reasons, "limit", most, "at most twice as many or 4 at once");
    else
      say(reasons, "bounds", most, "not above maxReplicas");
    return most;
  }
  return stable;
}

std::int32_t limit_by_rules(const ScalingBehaviour& behaviour, const ScalingStep& step, std::int32_t stable,
                            const BehaviourMemory& memory, std::vector<ScalingReason>& reasons) {
  if (stable > step.current) {
    const std::int32_t limit = up_limit(behaviour.up, step, memory);
    const std::int32_t most = std::min(step.max_replicas, limit);
    if (stable <= most) return stable;
    if (step.max_replicas > limit)
      say(reasons, "limit", most, "scaleUp allows no more in its periods");
    else
      say(reasons, "bounds", most, "not above maxReplicas");
    return most;
  }
  if (stable < step.current) {
    const std::int32_t limit = down_limit(behaviour.down, step, memory);
    const std::int32_t fewest = std::max(step.min_replicas, limit);
    if (stable >= fewest) return stable;
    if (step.min_replicas < limit)
      say(reasons, "limit", fewest, "scaleDown allows no fewer in its periods");
    else
      say(reasons, "bounds", fewest, "not below minReplicas");
    return fewest;
  }
  return stable;
}

Duration longest_period(std::span<const Limit> limits) {
  Duration longest{};
  for (const Limit& limit : limits) longest = std::max(longest, limit.period);
  return longest;
}

void note(Changes& changes, Duration longest, std::int32_t replicas, Time at) {
  std::optional<std::size_t> place;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (changes[i].at < at - longest) changes[i].outdated = true;
    if (changes[i].outdated) place = i;
  }
  if (place)
    changes[*place] = {replicas, at};
  else
    changes.push_back({replicas, at});
}

}  // namespace

void begin_recommendations(BehaviourMemory& memory, std::int32_t current, Time now) {
  if (memory.recommended.empty()) memory.recommended.push_back({current, now});
}

std::int32_t lay_behaviour(const std::optional<ScalingBehaviour>& behaviour, const ScalingStep& step,
                           BehaviourMemory& memory, std::vector<ScalingReason>& reasons) {
  const std::int32_t stable =
      behaviour ? stabilise(*behaviour, step, memory) : stabilise_plainly(step, memory);
  if (stable != step.desired) {
    const bool down = step.desired < step.current;
    const Duration window = !behaviour ? kDownWindow
                            : down     ? behaviour->down.stabilisation.value_or(kDownWindow)
                                       : behaviour->up.stabilisation.value_or(Duration{});
    say(reasons, "stabilisation", stable,
        std::string(down || !behaviour ? "the highest" : "the lowest") + " of the last " +
            seconds_text(window));
  }
  return behaviour ? limit_by_rules(*behaviour, step, stable, memory, reasons)
                   : limit_plainly(step, stable, reasons);
}

void note_change(const std::optional<ScalingBehaviour>& behaviour, std::int32_t from, std::int32_t to,
                 Time at, BehaviourMemory& memory) {
  if (!behaviour || from == to) return;
  if (to > from)
    note(memory.up, longest_period(up_limits(behaviour->up)), to - from, at);
  else
    note(memory.down, longest_period(down_limits(behaviour->down)), from - to, at);
}

void forget_change(std::int32_t from, std::int32_t to, Time at, BehaviourMemory& memory) {
  for (auto& change : to > from ? memory.up : memory.down)
    if (change.at == at && change.replicas == std::abs(to - from)) change = {0, at, true};
}

}  // namespace evenkeel::autoscaling
