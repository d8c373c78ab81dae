// What must hold of every scale action, whatever happened before it.
#include <algorithm>
#include <cmath>

#include "scaling_world.h"

namespace evenkeel {

void ScalingFaults::wrong(const ScaleWorkload& action, const std::string& what) {
  wrongs_.push_back(std::to_string(action.from) + " to " + std::to_string(action.to) + " of workload " +
                    std::to_string(action.scaler.slot) + " at " +
                    std::to_string(std::llround(to_seconds(now_.time_since_epoch()))) + " s: " + what);
}

void ScalingFaults::judge(std::size_t which, const ScaleWorkload& action) {
  const Workload* const workload = find(action.scaler);
  if (!workload) return wrong(action, "nobody asked for that workload");
  const ScalerSpec& spec = workload->spec;
  Process& process = processes_[which];
  if (action.from == action.to) wrong(action, "changes nothing");
  if (action.to < spec.min_replicas || action.to > spec.max_replicas) wrong(action, "outside the bounds");
  if (spec.mode != ScalerSpec::Mode::automatic) wrong(action, "only a preview was asked for, or a pause");
  if (!workload->rival.empty()) wrong(action, "somebody else scales it");
  if (which != holder_ || now_ >= lease_until_) wrong(action, "the lease is another's");
  if (action.not_after > lease_until_) wrong(action, "may be sent when the lease has run out");
  for (const Write& write : writes_)
    if (write.process == which && write.life == process.life && write.action.scaler == action.scaler &&
        !write.landed && write.action.from == action.from && write.action.to == action.to &&
        now_ - write.issued <= std::chrono::seconds{1})
      wrong(action, "asked for twice");

  // What brings a workload back between its bounds is done at once, as upstream does.
  if (action.from > spec.max_replicas || action.from < spec.min_replicas) return;
  judge_limits(*workload, process.deeds[action.scaler], action);
}

void ScalingFaults::judge_limits(const Workload& workload, const Deeds& deeds, const ScaleWorkload& action) {
  const bool up = action.to > action.from;
  const auto& behaviour = workload.spec.behaviour;
  if (!behaviour) {
    if (up && action.to > std::max(2 * action.from, 4)) wrong(action, "more than twice as many at once");
    return;
  }
  const ScalingRules& rules = up ? behaviour->up : behaviour->down;
  if (rules.select == ScalingRules::Select::disabled) return wrong(action, "that way is disabled");
  if (rules.limits.empty()) return;
  std::vector<double> allowed;
  for (const ScalingRules::Limit& limit : rules.limits) {
    double start = action.from;
    for (const Done& done : deeds.done)
      if (done.at > now_ - limit.period) start -= done.to - done.from;
    const double sign = up ? 1 : -1;
    allowed.push_back(limit.kind == ScalingRules::Limit::Kind::pods
                          ? start + sign * limit.value
                          : start * (1 + sign * limit.value / 100.0));
  }
  const bool least = rules.select == ScalingRules::Select::least;
  const auto [lowest, highest] = std::minmax_element(allowed.begin(), allowed.end());
  if (up && action.to > std::ceil((least ? *lowest : *highest) - 1e-9))
    wrong(action, "more than scaleUp allows");
  if (!up && action.to < std::floor((least ? *highest : *lowest) + 1e-9))
    wrong(action, "fewer than scaleDown allows");
}

}  // namespace evenkeel
