// Facts, in.
#include <algorithm>
#include <cmath>

#include "base/match.h"
#include "scheduling/scheduler.h"

namespace evenkeel::scheduling {
namespace {

constexpr double kProfileWeight = 8;  // samples of its own a pod needs to outweigh its workload's

bool looks_alike(const PodTemplate& a, const PodTemplate& b) {
  return &a == &b || (a.name_space == b.name_space && a.labels == b.labels && a.workload == b.workload &&
                      a.owners == b.owners && a.spec == b.spec);
}

// One sample that is no number would leave its node's load none for good.
bool is_believable(const UsageReported& report) {
  const auto is_amount = [](double amount) { return std::isfinite(amount) && amount >= 0; };
  const auto are_amounts = [&](const Usage& usage) { return std::ranges::all_of(usage.of, is_amount); };
  return are_amounts(report.total) &&
         std::ranges::all_of(report.pods, [&](const PodUsage& pod) { return are_amounts(pod.usage); });
}

}  // namespace

void Scheduler::observe(const ClusterEvent& event, Time now) {
  ++epoch_;
  std::visit(
      Match{
          [&](const NodeAdded& e) { node_set(e.node, now); },
          [&](const NodeUpdated& e) { node_set(e.node, now); },
          [&](const NodeRemoved& e) { node_removed(e.node, now); },
          [&](const PodAdded& e) { pod_added(e.pod, now); },
          [&](const PodFound& e) { pod_found(e.pod, e.node, now); },
          [&](const PodBound& e) { pod_bound(e, now); },
          [&](const PodStarted& e) { cluster_.mark_started(e.pod, std::min(e.at.value_or(now), now)); },
          [&](const PodGone& e) { pod_gone(e, now); },
          [&](const BindFailed& e) { bind_failed(e.pod, now); },
          [&](const UsageReported& e) { usage_reported(e, now); },
          [&](const WorkloadSample& e) { history_.observe_sample(e.workload, e.usage, e.measured); },
          [&](const PodUpdated& e) { pod_updated(e.pod, now); },
          [&](const ObjectSet& e) { object_changed(e.object, false, now); },
          [&](const ObjectGone& e) { object_changed(e.object, true, now); },
          [&](const EvictFailed& e) { evict_failed(e.pod, now); },
      },
      event);
}

void Scheduler::node_set(const Node& node, Time now) {
  const Changes changes =
      cluster_.has_node(node.id) ? node_changes(cluster_.node(node.id), node) : Changes{kNodeAdded};
  cluster_.set_node(node);
  queue_.release_held();
  happened({changes, node.id}, now);
}

void Scheduler::node_removed(NodeId node, Time now) {
  if (!cluster_.has_node(node)) return;
  const auto here = cluster_.pods_on(node);
  for (const PodId pod : std::vector<PodId>(here.begin(), here.end()))
    if (cluster_.pod(pod)->place == PodPlace::assumed) {
      // It may still be bound there, so it is not asked about again before that is known.
      forget_assumption(pod, now);
      put(per_pod(pod), Where::unsettled);
    }
  cluster_.remove_node(node);
  const auto promised = nominations_.on(node);
  for (const Nomination& nomination : std::vector<Nomination>(promised.begin(), promised.end())) {
    drop_order(nomination.pod);
    nominations_.drop(nomination.pod);
    release_alone(nomination.pod, now);
  }
  if (!reservations_.empty()) drop_reservations(now);
  parked_.unsettle();  // nobody fits better, but what they are told counts one node less
  happened({kNodeRemoved}, now);
}

void Scheduler::enroll(const Pod& pod) {
  const std::optional<std::size_t> profile = profile_of(pod.spec());
  PerPod& own = per_pod(pod.id);
  const std::uint32_t ticket = own.queued.ticket;  // of the slot: older entries stay void
  put(own, Where::nowhere);
  own = {};
  own.profile = profile.value_or(0);
  own.ours = profile.has_value();
  own.queued.pod = pod.id;
  own.queued.ticket = ticket + 1;
}

void Scheduler::pod_added(const Pod& pod, Time now) {
  if (cluster_.pod(pod.id)) return;  // delivered twice
  history_.observe_pod(pod);
  cluster_.add_pending(pod);
  enroll(pod);
  PerPod& own = per_pod(pod.id);
  if (!own.ours) return;
  ++waiting_;
  own.queued.priority = pod.spec().priority;
  own.queued.sequence = sequence_++;
  own.queued.workload = pod.shape->workload;
  own.queued.arrived = now;
  own.queued.by_run_time = goes_by_run_time(pod);
  stand_in_line(pod);
  nominate(pod, "", now);
  if (pod.spec().scheduling_gates.empty()) {
    enqueue(pod.id);
  } else {
    put(own, Where::gated);
  }
}

void Scheduler::pod_found(const Pod& pod, NodeId node, Time now) {
  const PodRecord* known = cluster_.pod(pod.id);
  const bool waited = known && known->place == PodPlace::pending;
  if (!known || waited) runs_.placed(pod, now);
  if (!known) enroll(pod);
  if (waited && per_pod(pod.id).ours) {
    --waiting_;
    stop_waiting(pod.id, now);
  }
  const std::optional<NodeId> elsewhere =
      known && !waited && known->node != node ? std::optional(known->node) : std::nullopt;
  history_.observe_pod(pod);
  cluster_.found(pod, node, history_.demand(pod), now);
  if (elsewhere) freed(*pod.shape, *elsewhere, now);
  placed(*pod.shape, node, now);
}

void Scheduler::pod_bound(const PodBound& bound, Time now) {
  const PodRecord* record = cluster_.pod(bound.pod);
  if (!record) return;
  const PodPlace before = record->place;
  const NodeId was_on = record->node;
  if (before == PodPlace::pending) {  // somebody else placed it, or its node was gone for a while
    if (per_pod(bound.pod).ours) {
      --waiting_;
      stop_waiting(bound.pod, now);
    }
    runs_.placed(record->pod, now);
    cluster_.set_expected(bound.pod, history_.demand(record->pod));
  }
  cluster_.confirm(bound.pod, bound.node, now);
  if (before != PodPlace::pending && was_on == bound.node) return;  // as everybody assumed
  if (before != PodPlace::pending) freed(*record->pod.shape, was_on, now);
  placed(*record->pod.shape, bound.node, now);
}

// There is less room now, but that pods have come is what some wait for.
void Scheduler::placed(const PodTemplate& shape, NodeId node, Time now) {
  happened({kPodArrived, node, &shape}, now);
}

void Scheduler::freed(const PodTemplate& shape, NodeId node, Time now) {
  queue_.release_held();
  look_again_at_promised(node, now);
  happened({kPodLeft, node, &shape}, now);
}

// Whoever was promised the node and waited for nobody of ours to end there either fits now or gives it up: a
// promise that is of no use keeps others out.
void Scheduler::look_again_at_promised(NodeId node, Time now) {
  std::vector<PodId> waiting;
  for (const Nomination& nomination : nominations_.on(node))
    if (!orders_.contains(nomination.pod)) waiting.push_back(nomination.pod);
  for (const PodId pod : waiting) release_alone(pod, now);
}

void Scheduler::pod_gone(const PodGone& gone, Time now) {
  const PodRecord* record = cluster_.pod(gone.pod);
  if (!record) return;
  if (record->place == PodPlace::pending) {
    if (per_pod(gone.pod).ours) {
      --waiting_;
      stop_waiting(gone.pod, now);
    }
    cluster_.remove_pod(gone.pod);
    return;
  }
  if (gone.how == PodEnd::completed && record->started)
    history_.observe_end(record->pod, now - record->since);
  runs_.gone(record->pod);
  const NodeId node = record->node;
  const std::shared_ptr<const PodTemplate> shape = record->pod.shape;
  cluster_.remove_pod(gone.pod);
  release_volumes(gone.pod, now);
  freed(*shape, node, now);
  victim_gone(gone.pod, now);
}

// Nobody announces the pod a second time, so it is ours to bring back.
void Scheduler::bind_failed(PodId pod, Time now) {
  const PodRecord* record = cluster_.pod(pod);
  if (!record) return;
  PerPod& own = per_pod(pod);
  if (record->place == PodPlace::assumed) {
    forget_assumption(pod, now);
  } else if (record->place != PodPlace::pending || own.where != Where::unsettled) {
    return;  // a late echo
  }
  ++own.attempts;
  own.tried = now;
  wait_until(pod, Where::failed, now + queue_options_.backoff(own.attempts));
}

// It stays: what was kept for its successor is anybody's again, and its workload is left alone for a while.
void Scheduler::evict_failed(PodId pod, Time now) {
  for (Reservation& reservation : reservations_)
    if (reservation.moved == pod) reservation.until = now;
  drop_reservations(now);
  const PodRecord* record = cluster_.pod(pod);
  if (!record) return;
  for (Rebalancer& rebalancer : rebalancers_) rebalancer.cool_down(record->pod.shape->workload, now);
}

// Back to those that wait, though not yet to the queue.
void Scheduler::forget_assumption(PodId pod, Time now) {
  const PodRecord* record = cluster_.pod(pod);
  const NodeId node = record->node;
  runs_.gone(record->pod);
  cluster_.unassume(pod);
  ++waiting_;
  release_volumes(pod, now);
  freed(*record->pod.shape, node, now);
}

void Scheduler::pod_updated(const Pod& pod, Time now) {
  const PodRecord* record = cluster_.pod(pod.id);
  if (!record) return;
  if (record->place == PodPlace::pending && per_pod(pod.id).ours) return waiting_pod_updated(pod, now);
  const std::shared_ptr<const PodTemplate> before = record->pod.shape;
  const bool ends = pod.terminating != record->pod.terminating;
  cluster_.update_pod(pod);
  if (record->place == PodPlace::pending) return;
  if (!ends && looks_alike(*before, *pod.shape)) return;
  queue_.release_held();
  happened({kPodChanged, record->node, before.get()}, now);
  if (before != pod.shape) happened({kPodChanged, record->node, pod.shape.get()}, now);
}

void Scheduler::waiting_pod_updated(const Pod& pod, Time now) {
  const Pod before = cluster_.pod(pod.id)->pod;
  cluster_.update_pod(pod);
  nominate(pod, before.nominated_node, now);
  const bool same = looks_alike(*before.shape, *pod.shape);
  PerPod& own = per_pod(pod.id);
  if (own.where == Where::unsettled) return;
  const bool stands_elsewhere = own.queued.priority != pod.spec().priority ||
                                own.queued.workload != pod.shape->workload ||
                                own.queued.by_run_time != goes_by_run_time(pod);
  own.queued.priority = pod.spec().priority;
  own.queued.workload = pod.shape->workload;
  own.queued.by_run_time = goes_by_run_time(pod);
  const bool moved = stand_in_line(pod);
  if (!pod.spec().scheduling_gates.empty()) {
    if (own.where == Where::gated) return;
    leave_group(pod.id, now);
    ++own.queued.ticket;
    put(own, Where::gated);
    return;
  }
  switch (own.where) {
    case Where::gated:
      enqueue(pod.id);
      return;
    case Where::queued:
      if (stands_elsewhere || moved) enqueue(pod.id);
      return;
    case Where::parked:
      if (!same) release_alone(pod.id, now);
      return;
    case Where::shelved:
      if (!same) enqueue(pod.id);
      return;
    default:
      return;  // it will be looked at as it is then
  }
}

void Scheduler::object_changed(const ClusterObject& object, bool gone, Time now) {
  gone ? cluster_.remove_object(object) : cluster_.set_object(object);
  if (const auto* group = std::get_if<AppGroup>(&object)) stand_anew(*group);
  happened({object_changes(object, gone), {}, nullptr, &object}, now);
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
  if (!cluster_.has_node(report.node) || !is_believable(report)) return;
  const Time before = cluster_.measured_at(report.node);
  if (report.measured < before && before <= now) return;  // overtaken by a later one
  const auto learn = [&](const PodRecord& record, const Usage& usage) {
    const Duration age = record.started ? report.measured - record.since : Duration::zero();
    history_.observe_usage(record.pod, usage, report.measured, {report.pods_known, history_.weight_at(age)});
    return expected_use(record);
  };
  cluster_.add_report(report, learn, [&](const PodRecord& record) { return history_.demand(record.pod); });
  next_doubt_ = std::min(next_doubt_, report.measured + stale_after_ + Duration(1));
  if (!counts_use_) return;
  queue_.release_held();
  happened({kNodeUse, report.node}, now);
}

// A node that has not been heard of for too long goes on counting, by what its pods' workloads did so far;
// the others are decided about by their samples as before.
void Scheduler::doubt_old_samples(Time now) {
  next_doubt_ = Time::max();
  for (std::uint32_t slot = 0; slot < cluster_.columns().size(); ++slot) {
    const NodeId node{slot};
    if (!cluster_.has_node(node) || !cluster_.is_sampled(node)) continue;
    const Time believed_until = cluster_.measured_at(node) + stale_after_;
    if (believed_until >= now) {
      next_doubt_ = std::min(next_doubt_, believed_until + Duration(1));
      continue;
    }
    cluster_.forget_samples(node, [&](const PodRecord& record) { return history_.demand(record.pod); });
    if (!counts_use_) continue;
    queue_.release_held();
    happened({kNodeUse, node}, now);
  }
}

}  // namespace evenkeel::scheduling
