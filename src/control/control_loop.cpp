#include "control/control_loop.h"

namespace evenkeel::control {

using scheduling::Next;
using scheduling::PlacementRequest;

bool ControlLoop::turn() { return turn(Time::max()); }

bool ControlLoop::turn(Time deadline) {
  const auto events = world_.wait_for_events(std::min({deadline, scheduler_.wake_at(), policy_.review_at()}));
  if (!events) return false;
  const Time now = world_.now();
  for (const ClusterEvent& event : *events) scheduler_.observe(event, now);
  if (policy_.review_at() <= now) review(now);
  decide();
  return true;
}

bool ControlLoop::run_until(Time until) {
  while (world_.now() < until)
    if (!turn(until)) return false;
  return true;
}

void ControlLoop::review(Time now) {
  const scheduling::Retrospect seen{scheduler_.cluster(), scheduler_.history(), scheduler_.options(), now};
  for (const EvictPod& eviction : policy_.review(seen, random_)) {
    if (action_watch_) action_watch_(eviction, now);
    world_.execute(eviction);
  }
}

void ControlLoop::decide() {
  const Time now = world_.now();
  for (;;) {
    Next next = scheduler_.next(now);
    if (std::holds_alternative<scheduling::NothingToDo>(next)) return;
    if (const auto* action = std::get_if<Action>(&next)) {
      if (action_watch_) action_watch_(*action, now);
      world_.execute(*action);
      continue;
    }
    const auto& request = std::get<PlacementRequest>(next);
    const std::optional<NodeId> chosen = policy_.choose(request, random_);
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
