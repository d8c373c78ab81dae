#include "scheduling/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/match.h"
#include "scheduling/filters/filter.h"
#include "scheduling/filters/volume_claims.h"
#include "scheduling/node_kernels.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;
constexpr Duration kHeldLook = 1s;       // elapsed time alone may free a held pod
constexpr Duration kReservation = 2min;  // an evicted pod's successor is here by then
constexpr double kProfileWeight = 8;     // samples of its own a pod needs to outweigh its workload's

Duration backoff(const QueueOptions& options, std::uint32_t attempts) {
  Duration wait = options.first_backoff;
  for (std::uint32_t i = 1; i < attempts && wait < options.longest_backoff; ++i) wait *= 2;
  return std::min(wait, options.longest_backoff);
}

// By run time as soon as one profile wants it: pods of the others say that they do not.
QueueOrder order_of(const std::vector<SchedulerProfile>& profiles) {
  for (const SchedulerProfile& profile : profiles)
    if (profile.options.order == QueueOrder::shortest_first) return QueueOrder::shortest_first;
  return QueueOrder::arrival;
}

}  // namespace

Scheduler::Scheduler(SchedulingOptions options)
    : Scheduler(std::vector<SchedulerProfile>{{"", std::move(options)}}) {}

Scheduler::Scheduler(std::vector<SchedulerProfile> profiles, QueueOptions queue)
    : profiles_(std::move(profiles)),
      queue_options_(queue),
      queue_(order_of(profiles_), profiles_.front().options.longest_wait) {
  for (const SchedulerProfile& profile : profiles_)
    rebalancers_.emplace_back(profile.options.moves, profile.scheduler_name);
}

std::optional<std::size_t> Scheduler::profile_of(const PodSpec& spec) const {
  for (std::size_t i = 0; i < profiles_.size(); ++i)
    if (profiles_[i].scheduler_name.empty() || profiles_[i].scheduler_name == spec.scheduler_name) return i;
  return std::nullopt;
}

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
                 [&](const NodeRemoved& e) {
                   cluster_.remove_node(e.node);
                   others_changed(now);
                 },
                 [&](const PodAdded& e) { pod_added(e.pod, now); },
                 [&](const PodFound& e) {
                   const PodRecord* known = cluster_.pod(e.pod.id);
                   if (known && known->place == PodPlace::pending && per_pod(e.pod.id).ours) --waiting_;
                   if (!known || known->place == PodPlace::pending) runs_.placed(e.pod, now);
                   if (!known) enroll(e.pod);
                   forget_parked(e.pod.id);
                   drop_nomination(e.pod.id);
                   history_.observe_pod(e.pod);
                   cluster_.found(e.pod, e.node, history_.demand(e.pod), now);
                   others_changed(now);
                 },
                 [&](const PodBound& e) {
                   const PodRecord* record = cluster_.pod(e.pod);
                   if (!record) return;
                   if (record->place == PodPlace::pending) {  // somebody else placed it
                     if (per_pod(e.pod).ours) --waiting_;
                     forget_parked(e.pod);
                     drop_nomination(e.pod);
                     runs_.placed(record->pod, now);
                     cluster_.set_expected(e.pod, history_.demand(record->pod));
                   }
                   cluster_.confirm(e.pod, e.node, now);
                   others_changed(now);
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
                   release_volumes(e.pod);
                   ++waiting_;
                   back_off(e.pod, now);
                   node_improved(node, now);
                 },
                 [&](const UsageReported& e) { usage_reported(e, now); },
                 [&](const WorkloadSample& e) { history_.observe_sample(e.workload, e.usage, e.measured); },
                 [&](const PodUpdated& e) { pod_updated(e.pod, now); },
                 [&](const ObjectSet& e) {
                   cluster_.set_object(e.object);
                   others_changed(now);
                 },
                 [&](const ObjectGone& e) {
                   cluster_.remove_object(e.object);
                   others_changed(now);
                 },
             },
             event);
}

Scheduler::PerPod& Scheduler::per_pod(PodId pod) {
  if (pod.slot >= per_pod_.size()) per_pod_.resize(pod.slot + std::size_t{1});
  return per_pod_[pod.slot];
}

void Scheduler::enroll(const Pod& pod) {
  const std::optional<std::size_t> profile = profile_of(pod.spec());
  per_pod(pod.id) = {0, {}, profile.value_or(0), profile.has_value()};
}

void Scheduler::pod_added(const Pod& pod, Time now) {
  if (cluster_.pod(pod.id)) return;  // delivered twice
  history_.observe_pod(pod);
  cluster_.add_pending(pod);
  enroll(pod);
  if (!per_pod(pod.id).ours) return;
  ++waiting_;
  const QueuedPod queued = queued_as(pod, now);
  per_pod(pod.id).queued = queued;
  nominate(pod);
  if (pod.spec().scheduling_gates.empty()) queue_.push(queued);
}

QueuedPod Scheduler::queued_as(const Pod& pod, Time now) {
  const SchedulingOptions& options = options_for(pod.id);
  const OrderOptIn& asked = options.order_opt_in;
  const std::string* label = asked.on ? pod.shape->labels.find(asked.label) : nullptr;
  const bool by_run_time =
      options.order == QueueOrder::shortest_first && (!asked.on || (label && *label == asked.value));
  return {pod.id, pod.spec().priority, sequence_++, pod.shape->workload, now, by_run_time};
}

void Scheduler::pod_gone(const PodGone& gone, Time now) {
  const PodRecord* record = cluster_.pod(gone.pod);
  if (!record) return;
  if (record->place == PodPlace::pending) {
    if (per_pod(gone.pod).ours) --waiting_;
    forget_parked(gone.pod);
    drop_nomination(gone.pod);
    cluster_.remove_pod(gone.pod);
    return;
  }
  if (gone.how == PodEnd::completed && record->started)
    history_.observe_end(record->pod, now - record->since);
  runs_.gone(record->pod);
  release_volumes(gone.pod);
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
  if (std::any_of(profiles_.begin(), profiles_.end(), [](const auto& p) { return p.options.by_use.on; }))
    node_improved(report.node, now);
}

void Scheduler::back_off(PodId pod, Time now) {
  PerPod& own = per_pod(pod);
  ++own.attempts;
  retries_.push({own.queued, now + backoff(queue_options_, own.attempts)});
}

void Scheduler::park(PodId pod, Time now) {
  PerPod& own = per_pod(pod);
  ++own.attempts;
  parked_.push_back(own.queued);
  next_flush_ = std::min(next_flush_, now + queue_options_.longest_parked);
}

void Scheduler::forget_parked(PodId pod) {
  std::erase_if(parked_, [&](const QueuedPod& queued) { return queued.pod == pod; });
}

// Parked pods for which this very node would now do get another look, after their back-off.
void Scheduler::node_improved(NodeId node, Time now) {
  queue_.release_held();
  others_changed(now);
  if (parked_.empty() || !cluster_.has_node(node)) return;
  std::erase_if(parked_, [&](const QueuedPod& queued) {
    const PodRecord* record = cluster_.pod(queued.pod);
    if (!record) return true;
    const Demand demand = history_.demand(record->pod);
    if (!objections({record->pod, cluster_, demand, options_for(queued.pod)}, node).empty()) return false;
    retries_.push({queued, now + (queue_.empty() ? Duration{} : queue_options_.first_backoff)});
    return true;
  });
}

bool Scheduler::still_waits(const QueuedPod& queued) const {
  const PodRecord* record = cluster_.pod(queued.pod);
  return record && record->place == PodPlace::pending;
}

bool Scheduler::find_feasible(const Pod& pod, const Demand& demand) {
  const SchedulingOptions& options = options_for(pod.id);
  const auto& present = cluster_.columns().present;
  feasible_.assign(present.begin(), present.end());
  apply_filters({pod, cluster_, demand, options}, feasible_);
  if (!nominations_.empty()) {
    heed_nominations(pod, demand);
    if (may_go_to_promised_node(pod)) return true;
  }
  if (const auto percentage = options.profile.percentage_of_nodes_to_score) sample_nodes(*percentage);
  feasible_count_ = count_set(feasible_.data(), feasible_.size());
  return feasible_count_ > 0;
}

// Nodes that were promised to others no less important must have room for them too.
void Scheduler::heed_nominations(const Pod& pod, const Demand& demand) {
  const FilterInput input{pod, cluster_, demand, options_for(pod.id)};
  for (const Nomination& nomination : nominations_) {
    std::uint8_t& open = feasible_[nomination.node.slot];
    if (nomination.pod != pod.id && open)
      open = judge_with_nominated(input, cluster_, nomination.node, nominations_).objections.empty();
  }
}

bool Scheduler::may_go_to_promised_node(const Pod& pod) {
  const auto own = std::find_if(nominations_.begin(), nominations_.end(),
                                [&](const Nomination& nomination) { return nomination.pod == pod.id; });
  if (own == nominations_.end() || !feasible_[own->node.slot]) return false;
  feasible_.assign(feasible_.size(), 0);
  feasible_[own->node.slot] = 1;
  feasible_count_ = 1;
  return true;
}

// As many of the nodes that would do as the profile wants looked at, starting where the last look ended.
void Scheduler::sample_nodes(std::int32_t wanted_percentage) {
  constexpr std::size_t kAtLeast = 100;
  const std::size_t nodes = cluster_.node_count(), slots = feasible_.size();
  if (nodes < kAtLeast) return;
  auto percentage = static_cast<std::size_t>(wanted_percentage);
  if (percentage == 0) percentage = std::max<std::size_t>(5, 50 - std::min<std::size_t>(50, nodes / 125));
  std::size_t wanted = std::max(kAtLeast, nodes * percentage / 100), looked_at = 0;
  for (; looked_at < slots && wanted > 0; ++looked_at)
    wanted -= feasible_[(first_sampled_ + looked_at) % slots];
  for (std::size_t i = looked_at; i < slots; ++i) feasible_[(first_sampled_ + i) % slots] = 0;
  first_sampled_ = (first_sampled_ + looked_at) % slots;
}

// No node will do: others are asked to make room, or the pod waits and is told why.
Action Scheduler::give_up(const Pod& pod, const Demand& demand, Time now) {
  const FilterInput input{pod, cluster_, demand, options_for(pod.id)};
  std::string why = unschedulable_message(
      input, [&](NodeId node) { return judge_with_nominated(input, cluster_, node, nominations_); });
  park(pod.id, now);
  if (!options_for(pod.id).profile.preemption || cluster_.node_count() == 0)
    return MarkUnschedulable{pod.id, why};
  PreemptionOutcome outcome = preempt(input, cluster_, nominations_, now);
  drop_nomination(pod.id);
  if (!outcome.victims) return MarkUnschedulable{pod.id, why + " " + outcome.message};
  nominations_.push_back({pod.id, outcome.victims->node});
  return PreemptPods{pod.id, outcome.victims->node, std::move(outcome.victims->pods), std::move(why)};
}

void Scheduler::nominate(const Pod& pod) {
  drop_nomination(pod.id);
  if (pod.nominated_node.empty()) return;
  if (const auto node = cluster_.node_named(pod.nominated_node)) nominations_.push_back({pod.id, *node});
}

void Scheduler::drop_nomination(PodId pod) {
  std::erase_if(nominations_, [&](const Nomination& nomination) { return nomination.pod == pod; });
}

void Scheduler::release_volumes(PodId pod) {
  const auto at = promised_.find(pod);
  if (at == promised_.end()) return;
  cluster_.release_volumes(at->second);
  promised_.erase(at);
}

void Scheduler::pod_updated(const Pod& pod, Time now) {
  const PodRecord* record = cluster_.pod(pod.id);
  if (!record) return;
  if (record->place != PodPlace::pending) {
    const NodeId node = record->node;
    cluster_.update_pod(pod);
    node_improved(node, now);
    return;
  }
  if (!per_pod(pod.id).ours) {
    cluster_.update_pod(pod);
    return;
  }
  const bool was_gated = !record->pod.spec().scheduling_gates.empty();
  cluster_.update_pod(pod);
  nominate(pod);
  QueuedPod& queued = per_pod(pod.id).queued;
  queued.priority = pod.spec().priority;
  queued.workload = pod.shape->workload;
  const bool was_parked = std::erase_if(parked_, [&](const QueuedPod& q) { return q.pod == pod.id; }) > 0;
  if (pod.spec().scheduling_gates.empty() && (was_gated || was_parked)) queue_.push(queued);
}

// Parked pods whose fate is not one node's alone get another look, after their back-off.
void Scheduler::others_changed(Time now) {
  if (parked_.empty()) return;
  const bool all = cluster_.rules().with_required_anti() > 0;
  std::erase_if(parked_, [&](const QueuedPod& queued) {
    const PodRecord* record = cluster_.pod(queued.pod);
    if (!record) return true;
    const PodSpec& spec = record->pod.spec();
    if (!all && spec.spread.empty() && spec.pod_affinity.empty() && spec.pod_anti_affinity.empty() &&
        spec.volumes.empty())
      return false;
    retries_.push({queued, now + backoff(queue_options_, per_pod(queued.pod).attempts)});
    return true;
  });
}

bool Scheduler::take_reservation(const Pod& pod, const Demand& demand) {
  const auto at = std::find_if(reservations_.begin(), reservations_.end(),
                               [&](const Reservation& r) { return r.shape == pod.shape; });
  if (at == reservations_.end()) return false;
  const NodeId node = at->node;
  cluster_.release(node, *at->shape, at->demand);
  reservations_.erase(at);
  if (!cluster_.has_node(node) || !objections({pod, cluster_, demand, options_for(pod.id)}, node).empty())
    return false;
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
      return PlacementRequest{pod, cluster_, history_,  runs_,           options_for(pod.id),
                              now, demand,   feasible_, feasible_count_, per_pod(pod.id).profile};
    return give_up(pod, demand, now);
  }

  for (std::size_t i = 0; i < profiles_.size(); ++i) {
    if (rebalancers_[i].next_look() > now) continue;
    if (const auto move = rebalancers_[i].propose(cluster_, history_, options(i), now)) {
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
  BindPod bind{pod, chosen};
  if (uses_claims(request.pod.spec())) {
    bind.volumes = plan_volumes({request.pod, cluster_, request.demand, request.options}, chosen).bindings;
    cluster_.reserve_volumes(bind.volumes, chosen);
    promised_[pod] = bind.volumes;
  }
  drop_nomination(pod);
  cluster_.assume(pod, chosen, request.demand, request.now);
  --waiting_;
  return bind;
}

void Scheduler::hold(const PlacementRequest& request) {
  queue_.hold(per_pod(request.pod.id).queued);
  next_held_look_ = request.now + kHeldLook;
}

Time Scheduler::wake_at() const {
  Time at = std::min(next_flush_, next_held_look_);
  for (const Rebalancer& rebalancer : rebalancers_) at = std::min(at, rebalancer.next_look());
  if (!retries_.empty()) at = std::min(at, retries_.top().at);
  for (const Reservation& reservation : reservations_) at = std::min(at, reservation.until);
  return at;
}

}  // namespace evenkeel::scheduling
