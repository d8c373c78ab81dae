#include "scheduling/scheduler.h"

#include <algorithm>

#include "base/check.h"
#include "base/match.h"
#include "scheduling/filters/filter.h"
#include "scheduling/node_kernels.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;
constexpr Duration kFirstBackoff = 1s, kLongestBackoff = 10s;
constexpr Duration kParkedFlush = 5min;  // whatever hints say, nobody is forgotten
constexpr Duration kHeldLook = 1s;       // elapsed time alone may free a held pod
constexpr Duration kReservation = 2min;  // an evicted pod's successor is here by then
constexpr double kProfileWeight = 8;     // samples of its own a pod needs to outweigh its workload's

Duration backoff(std::uint32_t attempts) {
  Duration wait = kFirstBackoff;
  for (std::uint32_t i = 1; i < attempts && wait < kLongestBackoff; ++i) wait *= 2;
  return std::min(wait, kLongestBackoff);
}

}  // namespace

Scheduler::Scheduler(SchedulingOptions options)
    : options_(options), queue_(options.order, options.longest_wait), rebalancer_(options.moves) {}

void Scheduler::observe(const ClusterEvent& event, Time now) {
  std::visit(Match{
                 [&](const NodeAdded& e) {
                   cluster_.set_node(e.node);
                   node_improved(e.node.id, now);
                 },
                 [&](const NodeUpdated& e) {
                   cluster_.set_node(e.node);
                   node_improved(e.node.id, now);
                 },
                 [&](const NodeRemoved& e) { cluster_.remove_node(e.node); },
                 [&](const PodAdded& e) { pod_added(e.pod, now); },
                 [&](const PodFound& e) {
                   const PodRecord* known = cluster_.pod(e.pod.id);
                   if (known && known->place == PodPlace::pending) --waiting_;
                   if (!known || known->place == PodPlace::pending) runs_.placed(e.pod, now);
                   forget_parked(e.pod.id);
                   history_.observe_pod(e.pod);
                   cluster_.found(e.pod, e.node, history_.demand(e.pod), now);
                 },
                 [&](const PodBound& e) {
                   const PodRecord* record = cluster_.pod(e.pod);
                   if (!record) return;
                   if (record->place == PodPlace::pending) {  // somebody else placed it
                     --waiting_;
                     forget_parked(e.pod);
                     runs_.placed(record->pod, now);
                     cluster_.set_expected(e.pod, history_.demand(record->pod));
                   }
                   cluster_.confirm(e.pod, e.node, now);
                 },
                 [&](const PodStarted& e) { cluster_.mark_started(e.pod, now); },
                 [&](const PodGone& e) { pod_gone(e, now); },
                 // Nobody announces the pod a second time, so it is ours to bring back.
                 [&](const BindFailed& e) {
                   const PodRecord* record = cluster_.pod(e.pod);
                   if (!record || record->place != PodPlace::assumed) return;
                   const NodeId node = record->node;
                   runs_.gone(record->pod);
                   cluster_.unassume(e.pod);
                   ++waiting_;
                   back_off(e.pod, now);
                   node_improved(node, now);
                 },
                 [&](const UsageReported& e) { usage_reported(e, now); },
                 [&](const WorkloadSample& e) { history_.observe_sample(e.workload, e.usage, e.measured); },
                 [&](const PodUpdated& e) { cluster_.update_pod(e.pod); },
                 [&](const ObjectSet& e) { cluster_.set_object(e.object); },
                 [&](const ObjectGone& e) { cluster_.remove_object(e.object); },
             },
             event);
}

Scheduler::PerPod& Scheduler::per_pod(PodId pod) {
  if (pod.slot >= per_pod_.size()) per_pod_.resize(pod.slot + std::size_t{1});
  return per_pod_[pod.slot];
}

void Scheduler::pod_added(const Pod& pod, Time now) {
  if (cluster_.pod(pod.id)) return;  // delivered twice
  history_.observe_pod(pod);
  cluster_.add_pending(pod);
  ++waiting_;
  const QueuedPod queued{pod.id, pod.spec().priority, sequence_++, pod.shape->workload, now};
  per_pod(pod.id) = {0, queued};
  if (pod.spec().scheduling_gates.empty()) queue_.push(queued);
}

void Scheduler::pod_gone(const PodGone& gone, Time now) {
  const PodRecord* record = cluster_.pod(gone.pod);
  if (!record) return;
  if (record->place == PodPlace::pending) {
    --waiting_;
    forget_parked(gone.pod);
    cluster_.remove_pod(gone.pod);
    return;
  }
  if (gone.how == PodEnd::completed && record->started)
    history_.observe_end(record->pod, now - record->since);
  runs_.gone(record->pod);
  const NodeId node = record->node;
  cluster_.remove_pod(gone.pod);
  node_improved(node, now);
}

// A pod's own record counts the more the longer it has been watched; one that is all there
// is of its workload has no other.
Demand Scheduler::expected_use(const PodRecord& record) const {
  Demand expected = history_.demand(record.pod);
  const auto replicas = cluster_.replicas(record.pod.shape->workload);
  const bool alone = replicas.size() == 1 && replicas.front().count == 1;
  if (record.samples > 0 && !alone)
    expected.mean =
        (expected.mean * kProfileWeight + record.sampled) * (1.0 / (kProfileWeight + record.samples));
  return expected;
}

void Scheduler::usage_reported(const UsageReported& report, Time now) {
  if (!cluster_.has_node(report.node) || report.measured < cluster_.measured_at(report.node)) return;
  cluster_.add_report(report, [&](const PodRecord& record, const Usage& usage) {
    history_.observe_usage(record.pod, usage, report.measured);
    return expected_use(record);
  });
  if (options_.by_use.on) node_improved(report.node, now);
}

void Scheduler::back_off(PodId pod, Time now) {
  PerPod& own = per_pod(pod);
  ++own.attempts;
  retries_.push({own.queued, now + backoff(own.attempts)});
}

void Scheduler::park(PodId pod, Time now) {
  PerPod& own = per_pod(pod);
  ++own.attempts;
  parked_.push_back(own.queued);
  next_flush_ = std::min(next_flush_, now + kParkedFlush);
}

void Scheduler::forget_parked(PodId pod) {
  std::erase_if(parked_, [&](const QueuedPod& queued) { return queued.pod == pod; });
}

// Parked pods for which this very node would now do get another look, after their back-off.
void Scheduler::node_improved(NodeId node, Time now) {
  queue_.release_held();
  if (parked_.empty() || !cluster_.has_node(node)) return;
  std::erase_if(parked_, [&](const QueuedPod& queued) {
    const PodRecord* record = cluster_.pod(queued.pod);
    if (!record) return true;
    const Demand demand = history_.demand(record->pod);
    if (!objections({record->pod, cluster_, demand, options_}, node).empty()) return false;
    retries_.push({queued, now + (queue_.empty() ? Duration{} : kFirstBackoff)});
    return true;
  });
}

bool Scheduler::still_waits(const QueuedPod& queued) const {
  const PodRecord* record = cluster_.pod(queued.pod);
  return record && record->place == PodPlace::pending;
}

bool Scheduler::find_feasible(const Pod& pod, const Demand& demand) {
  const auto& present = cluster_.columns().present;
  feasible_.assign(present.begin(), present.end());
  const FilterInput input{pod, cluster_, demand, options_};
  for (const Filter& filter : all_filters())
    if (filter.matters(input)) filter.apply(input, feasible_);
  feasible_count_ = count_set(feasible_.data(), feasible_.size());
  return feasible_count_ > 0;
}

bool Scheduler::take_reservation(const Pod& pod, const Demand& demand) {
  const auto at = std::find_if(reservations_.begin(), reservations_.end(),
                               [&](const Reservation& r) { return r.shape == pod.shape; });
  if (at == reservations_.end()) return false;
  const NodeId node = at->node;
  cluster_.release(node, *at->shape, at->demand);
  reservations_.erase(at);
  if (!cluster_.has_node(node) || !objections({pod, cluster_, demand, options_}, node).empty()) return false;
  feasible_.assign(cluster_.columns().size(), 0);
  feasible_[node.slot] = 1;
  feasible_count_ = 1;
  return true;
}

void Scheduler::drop_reservations(Time now) {
  for (std::size_t i = 0; i < reservations_.size();) {
    if (reservations_[i].until > now) {
      ++i;
      continue;
    }
    const Reservation dropped = std::move(reservations_[i]);
    reservations_.erase(reservations_.begin() + static_cast<std::ptrdiff_t>(i));
    cluster_.release(dropped.node, *dropped.shape, dropped.demand);
    node_improved(dropped.node, now);
  }
}

Next Scheduler::next(Time now) {
  while (!retries_.empty() && retries_.top().at <= now) {
    queue_.push(retries_.top().pod);
    retries_.pop();
  }
  if (next_flush_ <= now) {
    next_flush_ = Time::max();
    for (const QueuedPod& queued : parked_) queue_.push(queued);
    parked_.clear();
  }
  if (next_held_look_ <= now) {
    next_held_look_ = Time::max();
    queue_.release_held();
  }
  if (!reservations_.empty()) drop_reservations(now);

  const auto run_time = [&](PodId id) {
    const PodRecord* record = cluster_.pod(id);
    return record ? runs_.of(record->pod, history_, now).seconds : 0.0;
  };
  while (const auto queued = queue_.pop(now, run_time)) {
    if (!still_waits(*queued)) continue;
    const Pod& pod = cluster_.pod(queued->pod)->pod;
    if (const std::string_view feature = pod.shape->plain ? "" : unsupported_feature(pod.spec());
        !feature.empty())
      return Action{MarkUnschedulable{pod.id, "the pod uses " + std::string(feature) +
                                                  ", which is not honoured here: left pending, not guessed"}};
    Demand demand = history_.demand(pod);

    // A moved pod's successor takes the room that was kept for it.
    if (take_reservation(pod, demand) || find_feasible(pod, demand))
      return PlacementRequest{pod, cluster_, history_,  runs_,          options_,
                              now, demand,   feasible_, feasible_count_};
    MarkUnschedulable stuck{pod.id, unschedulable_message({pod, cluster_, demand, options_})};
    park(pod.id, now);
    return Action{std::move(stuck)};
  }

  if (rebalancer_.next_look() <= now) {
    if (const auto move = rebalancer_.propose(cluster_, history_, options_, now)) {
      const PodRecord& record = *cluster_.pod(move->pod);
      // Reserved first, so that nobody takes the place while the pod is on its way.
      cluster_.reserve(move->to, *record.pod.shape, record.expected);
      reservations_.push_back({move->to, record.pod.shape, record.expected, now + kReservation});
      return Action{EvictPod{move->pod, move->to, move->why}};
    }
  }
  return NothingToDo{};
}

Action Scheduler::commit(const PlacementRequest& request, NodeId chosen) {
  EVENKEEL_CHECK(chosen.slot < request.feasible.size() && request.feasible[chosen.slot]);
  const PodId pod = request.pod.id;
  // Assumed before it is confirmed, so the next pod sees the room already taken.
  runs_.placed(request.pod, request.now);
  cluster_.assume(pod, chosen, request.demand, request.now);
  --waiting_;
  return BindPod{pod, chosen};
}

void Scheduler::hold(const PlacementRequest& request) {
  queue_.hold(per_pod(request.pod.id).queued);
  next_held_look_ = request.now + kHeldLook;
}

Time Scheduler::wake_at() const {
  Time at = std::min({rebalancer_.next_look(), next_flush_, next_held_look_});
  if (!retries_.empty()) at = std::min(at, retries_.top().at);
  for (const Reservation& reservation : reservations_) at = std::min(at, reservation.until);
  return at;
}

}  // namespace evenkeel::scheduling
