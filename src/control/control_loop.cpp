#include "control/control_loop.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace evenkeel::control {

using scheduling::Next;
using scheduling::PlacementPolicy;
using scheduling::PlacementRequest;

ControlLoop::ControlLoop(World& world, scheduling::Scheduler& scheduler, PlacementPolicy& policy,
                         Random random)
    : ControlLoop(world, scheduler, std::array{&policy}, random) {}

ControlLoop::ControlLoop(World& world, scheduling::Scheduler& scheduler,
                         std::span<PlacementPolicy* const> policies, Random random)
    : world_(world), scheduler_(scheduler), random_(random.fork("policy")) {
  EVENKEEL_CHECK(policies.size() == scheduler.profiles());
  for (std::size_t profile = 0; profile < policies.size(); ++profile) {
    const auto known = std::find_if(advisers_.begin(), advisers_.end(),
                                    [&](const Adviser& a) { return a.policy == policies[profile]; });
    adviser_of_.push_back(static_cast<std::size_t>(known - advisers_.begin()));
    if (known == advisers_.end()) advisers_.push_back({policies[profile], profile});
  }
}

Time ControlLoop::next_review() const {
  Time at = Time::max();
  for (const Adviser& adviser : advisers_) at = std::min(at, adviser.policy->review_at());
  return at;
}

bool ControlLoop::turn(Time deadline) {
  const Time look_back_at = next_review();
  const auto events = world_.wait_for_events(std::min({deadline, scheduler_.wake_at(), look_back_at}));
  if (!events) {
    for (Adviser& adviser : advisers_)
      if (!adviser.ended.empty()) review(adviser, world_.now());  // a last look back
    return false;
  }
  const Time now = world_.now();
  const bool looks_back = look_back_at != Time::max();
  for (const ClusterEvent& event : *events) {
    if (const auto* gone = looks_back ? std::get_if<PodGone>(&event) : nullptr) note_end(*gone, now);
    scheduler_.observe(event, now);
  }
  for (Adviser& adviser : advisers_)
    if (adviser.policy->review_at() <= now) review(adviser, now);
  decide();
  return true;
}

bool ControlLoop::run_until(Time until) {
  while (world_.now() < until)
    if (!turn(until)) return false;
  return true;
}

void ControlLoop::review(Adviser& adviser, Time now) {
  const scheduling::Retrospect seen{scheduler_.cluster(), scheduler_.history(),
                                    scheduler_.options(adviser.profile), now, adviser.ended};
  for (EvictPod& asked : adviser.policy->review(seen, random_)) {
    const std::optional<EvictPod> eviction = scheduler_.admit(std::move(asked), adviser.profile, now);
    if (!eviction) continue;
    if (action_watch_) action_watch_(*eviction, now);
    world_.execute(*eviction);
  }
  adviser.ended.clear();
}

// Before the scheduler hears of it, which forgets the pod. Only who placed a pod looks back on it.
void ControlLoop::note_end(const PodGone& gone, Time now) {
  const PodRecord* record = scheduler_.cluster().pod(gone.pod);
  if (gone.how != PodEnd::completed || !record || !record->started) return;
  const std::optional<std::size_t> profile = scheduler_.profile_of(record->pod.spec());
  if (!profile) return;
  Adviser& adviser = advisers_[adviser_of_[*profile]];
  if (adviser.policy->review_at() == Time::max()) return;
  adviser.ended.push_back({gone.pod, record->pod.shape->workload, record->pod.created, record->since, now});
}

void ControlLoop::decide() {
  const Time now = world_.now();
  while (!world_.is_full()) {
    Next next = scheduler_.next(now);
    if (std::holds_alternative<scheduling::NothingToDo>(next)) return;
    if (const auto* action = std::get_if<Action>(&next)) {
      if (action_watch_) action_watch_(*action, now);
      world_.execute(*action);
      continue;
    }
    const auto& request = std::get<PlacementRequest>(next);
    PlacementPolicy& policy = *advisers_[adviser_of_[request.profile]].policy;
    const std::optional<NodeId> chosen = policy.choose(request, random_);
    if (decision_watch_) decision_watch_(request, chosen);
    if (!chosen) {
      scheduler_.hold(request);
      continue;
    }
    const Action action = scheduler_.commit(request, *chosen);
    if (action_watch_) action_watch_(action, now);
    world_.execute(action);
  }
}

}  // namespace evenkeel::control
