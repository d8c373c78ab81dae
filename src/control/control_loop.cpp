#include "control/control_loop.h"

namespace evenkeel::control {

using scheduling::Next;
using scheduling::PlacementRequest;

bool ControlLoop::turn() { return turn(Time::max()); }

bool ControlLoop::turn(Time deadline) {
  const auto events = world_.wait_for_events(std::min({deadline, scheduler_.wake_at(), policy_.review_at()}));
  if (!events) {
    if (!ended_.empty()) review(world_.now());  // a last look back
    return false;
  }
  const Time now = world_.now();
  const bool looks_back = policy_.review_at() != Time::max();
  for (const ClusterEvent& event : *events) {
    if (const auto* gone = looks_back ? std::get_if<PodGone>(&event) : nullptr) note_end(*gone, now);
    scheduler_.observe(event, now);
  }
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
  const scheduling::Retrospect seen{scheduler_.cluster(), scheduler_.history(), scheduler_.options(), now,
                                    ended_};
  for (const EvictPod& eviction : policy_.review(seen, random_)) {
    if (action_watch_) action_watch_(eviction, now);
    world_.execute(eviction);
  }
  ended_.clear();
}

// Before the scheduler hears of it, which forgets the pod.
void ControlLoop::note_end(const PodGone& gone, Time now) {
  const PodRecord* record = scheduler_.cluster().pod(gone.pod);
  if (gone.how != PodEnd::completed || !record || !record->started) return;
  ended_.push_back({gone.pod, record->pod.shape->workload, record->pod.created, record->since, now});
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
