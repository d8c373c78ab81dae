#include "control/scaling_loop.h"

#include <algorithm>
#include <utility>

namespace evenkeel::control {

using autoscaling::Recommendation;
using autoscaling::ScalingPolicy;
using autoscaling::ScalingRequest;

ScalingLoop::ScalingLoop(ScalingWorld& world, autoscaling::Autoscaler& autoscaler, PolicyMaker make,
                         Random random)
    : world_(world), autoscaler_(autoscaler), make_(std::move(make)), random_(random.fork("scaling")) {}

bool ScalingLoop::turn(Time deadline) {
  const auto events = world_.wait_for_events(std::min(deadline, autoscaler_.wake_at()));
  if (!events) return false;
  const Time now = world_.now();
  for (const ScalingEvent& event : *events) {
    autoscaler_.observe(event, now);
    if (const auto* gone = std::get_if<ScalerGone>(&event)) advisers_.erase(gone->scaler);
  }
  decide(now);
  return true;
}

bool ScalingLoop::run_until(Time until) {
  while (world_.now() < until)
    if (!turn(until)) return false;
  return true;
}

void ScalingLoop::decide(Time now) {
  while (const std::optional<ScalingRequest> request = autoscaler_.next(now)) {
    const std::vector<ScalingAction> actions = autoscaler_.commit(*request, ask(*request));
    if (watch_) watch_(*request, actions);
    for (const ScalingAction& action : actions) world_.execute(action);
  }
}

Recommendation ScalingLoop::ask(const ScalingRequest& request) {
  Adviser& adviser = adviser_of(request);
  if (adviser.made) return adviser.made->recommend(request, adviser.random);
  return {.unable = adviser.why_missing};
}

ScalingLoop::Adviser& ScalingLoop::adviser_of(const ScalingRequest& request) {
  const ScalerSpec& spec = request.spec;
  const auto known = advisers_.find(request.scaler);
  if (known != advisers_.end() && known->second.policy == spec.policy &&
      known->second.arguments == spec.arguments)
    return known->second;
  Result<std::unique_ptr<ScalingPolicy>> made = make_(spec);
  // By name, so that a workload draws the same numbers whoever else is there.
  Adviser adviser{spec.policy, spec.arguments, random_.fork(spec.name_space + "/" + spec.name), nullptr, ""};
  if (made)
    adviser.made = *std::move(made);
  else
    adviser.why_missing = made.error().message;
  return advisers_.insert_or_assign(request.scaler, std::move(adviser)).first->second;
}

ScalingPolicy* ScalingLoop::policy_of(ScalerId scaler) {
  const auto known = advisers_.find(scaler);
  return known == advisers_.end() ? nullptr : known->second.made.get();
}

}  // namespace evenkeel::control
