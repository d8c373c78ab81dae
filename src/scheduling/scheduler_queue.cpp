// Who waits where, and what brings them back.
#include <algorithm>

#include "scheduling/filters/filter.h"
#include "scheduling/scheduler.h"

namespace evenkeel::scheduling {
namespace {

bool has_volumes_of_its_own(const PodSpec& spec) {
  return std::any_of(spec.volumes.begin(), spec.volumes.end(),
                     [](const PodVolume& volume) { return volume.kind == VolumeKind::ephemeral; });
}

}  // namespace

Scheduler::PerPod& Scheduler::per_pod(PodId pod) {
  if (pod.slot >= per_pod_.size()) per_pod_.resize(pod.slot + std::size_t{1});
  return per_pod_[pod.slot];
}

void Scheduler::put(PerPod& own, Where where) {
  --depths_[static_cast<std::size_t>(own.where)];  // of nowhere wraps around, and means nothing
  own.where = where;
  ++depths_[static_cast<std::size_t>(where)];
}

QueueDepths Scheduler::depths() const {
  const auto of = [&](Where where) { return depths_[static_cast<std::size_t>(where)]; };
  return {of(Where::queued), of(Where::failed) + of(Where::released) + of(Where::unsettled),
          of(Where::parked) + of(Where::shelved), of(Where::gated)};
}

std::uint32_t Scheduler::attempts(PodId pod) const {
  return pod.slot < per_pod_.size() && per_pod_[pod.slot].queued.pod == pod ? per_pod_[pod.slot].attempts : 0;
}

bool Scheduler::goes_by_run_time(const Pod& pod) {
  const SchedulingOptions& options = options_for(pod.id);
  if (options.order != QueueOrder::shortest_first) return false;
  const OrderOptIn& asked = options.order_opt_in;
  const std::string* label = asked.on ? pod.shape->labels.find(asked.label) : nullptr;
  return !asked.on || (label && *label == asked.value);
}

bool Scheduler::stand_in_line(const Pod& pod) {
  const auto& by_topology = options_for(pod.id).profile.topological_sort;
  PerPod& own = per_pod(pod.id);
  GroupOrder::Standing standing{own.queued.sequence, 0};
  if (by_topology) standing = group_order_.of(pod, cluster_, *by_topology, own.queued.sequence);
  const bool moved = GroupOrder::Standing{own.queued.anchor, own.queued.rank} != standing;
  own.queued.anchor = standing.anchor;
  own.queued.rank = standing.rank;
  return moved;
}

// The group's order is known now, or is another one.
void Scheduler::stand_anew(const AppGroup& group) {
  for (const auto& [name_space, members] : cluster_.groups().everywhere(group.name))
    for (const PodId id : members) {
      const PodRecord* record = cluster_.pod(id);
      if (!record || record->place != PodPlace::pending || !per_pod(id).ours) continue;
      if (stand_in_line(record->pod) && per_pod(id).where == Where::queued) enqueue(id);
    }
}

void Scheduler::enqueue(PodId pod) {
  PerPod& own = per_pod(pod);
  ++own.queued.ticket;
  put(own, Where::queued);
  queue_.push(own.queued);
}

void Scheduler::wait_until(PodId pod, Where where, Time at) {
  PerPod& own = per_pod(pod);
  ++own.queued.ticket;
  put(own, where);
  (where == Where::failed ? failed_ : released_).push({at, pod, own.queued.ticket, own.queued.sequence});
}

void Scheduler::take_due(Retries& retries, Time now) {
  while (!retries.empty() && retries.top().at <= now) {
    const Retry due = retries.top();
    retries.pop();
    const PerPod& own = per_pod(due.pod);
    if (own.queued.pod == due.pod && own.queued.ticket == due.ticket) enqueue(due.pod);
  }
}

// It found a node, or is gone; whoever it was tried for is tried next.
void Scheduler::stop_waiting(PodId pod, Time now) {
  leave_group(pod, now);
  PerPod& own = per_pod(pod);
  ++own.queued.ticket;
  put(own, Where::nowhere);
  drop_order(pod);
  planned_.erase(pod);
  drop_nomination(pod, now);
}

void Scheduler::leave_group(PodId pod, Time now) {
  PerPod& own = per_pod(pod);
  const ParkedPods::GroupId group = std::exchange(own.group, ParkedPods::kNone);
  if (group == ParkedPods::kNone) return;
  if (own.where == Where::parked) {
    parked_.remove(group, own.queued.sequence);
  } else if (parked_.settle_sent(group, pod)) {
    release(group, now);
  }
}

ParkedPods::Key Scheduler::key_of(const Pod& pod) {
  const bool alone = nominations_.of(pod.id) || has_volumes_of_its_own(pod.spec());
  return {pod.shape.get(), per_pod(pod.id).profile, alone ? std::optional(pod.id) : std::nullopt};
}

void Scheduler::park(const Pod& pod, FilterSet rejected_by, const std::string& why, Time now) {
  // Nobody said no, yet no node will do: there is none. Anything may help.
  if (rejected_by == 0) rejected_by = filter_bit("");
  const ParkedPods::Key key = key_of(pod);
  PerPod& own = per_pod(pod.id);
  ++own.attempts;
  own.tried = now;
  if (own.group != ParkedPods::kNone && !(parked_.group(own.group).key == key)) leave_group(pod.id, now);
  own.group = parked_.park(key, pod.shape, own.queued, rejected_by, why, now);
  put(own, Where::parked);
}

// The first of the group is tried again, once its back-off is over.
void Scheduler::release(ParkedPods::GroupId group, Time now) {
  const std::optional<QueuedPod> first = parked_.send(group);
  if (!first) return;
  const PerPod& own = per_pod(first->pod);
  const Time at = own.tried + queue_options_.backoff(own.attempts);
  at <= now ? enqueue(first->pod) : wait_until(first->pod, Where::released, at);
}

void Scheduler::release_alone(PodId pod, Time now) {
  PerPod& own = per_pod(pod);
  if (own.queued.pod != pod || own.where != Where::parked) return;
  leave_group(pod, now);
  const Time at = own.tried + queue_options_.backoff(own.attempts);
  at <= now ? enqueue(pod) : wait_until(pod, Where::released, at);
}

// Groups that wait for this kind of change and may be helped by this one.
void Scheduler::happened(const Happening& what, Time now) {
  if (parked_.empty() || what.changes == 0) return;
  const bool on_node = what.node && cluster_.has_node(*what.node);
  const NodeColumns& c = cluster_.columns();
  const double free_cpu = on_node ? c.free_cpu[what.node->slot] : 0,
               free_memory = on_node ? c.free_memory[what.node->slot] : 0;
  for (ParkedPods::GroupId id = 0; id < parked_.glances().size(); ++id) {
    const ParkedPods::Glance& glance = parked_.glances()[id];
    if ((glance.cares & what.changes) == 0) continue;
    // Most changes are too small, which is seen at a glance; unless others may be ended.
    if ((glance.anywhere & what.changes) == 0 && glance.counts_room &&
        ((glance.cpu > 0 && glance.cpu > free_cpu) || (glance.memory > 0 && glance.memory > free_memory)) &&
        !cluster_.has_pods_below(glance.priority))
      continue;
    ParkedPods::Group& group = parked_.group(id);
    if (group.pods.empty()) continue;
    if (group.sent) {
      group.settled = false;  // the one on its way will see for itself
      continue;
    }
    const bool helps = [&] {
      if ((group.hint.anywhere & what.changes) != 0) {
        const Pod& first = cluster_.pod(group.pods.begin()->second.pod)->pod;
        if (what.pod ? may_concern(*group.shape, group.rejected_by, *what.pod)
                     : !what.object || may_concern(first, *what.object))
          return true;
      }
      return (group.hint.here & what.changes) != 0 && what.node && would_do(id, *what.node);
    }();
    if (helps) release(id, now);
  }
}

// Whether the node would do now, or might once pods of less importance are ended there.
bool Scheduler::would_do(ParkedPods::GroupId id, NodeId node) {
  const ParkedPods::Group& group = parked_.group(id);
  if (!cluster_.has_node(node)) return false;
  const Pod& pod = cluster_.pod(group.pods.begin()->second.pod)->pod;
  const SchedulingOptions& options = profiles_[group.key.profile].options;
  const PodSpec& spec = group.shape->spec;
  double spare_cpu = 0, spare_memory = 0, spare_pods = 0;
  if (options.profile.preemption && spec.preemption != PreemptionPolicy::never &&
      cluster_.has_pods_below(spec.priority) && !orders_.contains(pod.id))
    for (const PodId other : cluster_.pods_on(node)) {
      const PodTemplate& shape = *cluster_.pod(other)->pod.shape;
      if (shape.spec.priority >= spec.priority) continue;
      spare_cpu += static_cast<double>(shape.request.cpu.count);
      spare_memory += static_cast<double>(shape.request.memory.count);
      ++spare_pods;
    }
  static const FilterSet kFits = filter_bit(kResourceFit.plugin);
  const auto cpu = static_cast<double>(group.shape->request.cpu.count);
  const auto memory = static_cast<double>(group.shape->request.memory.count);
  const NodeColumns& c = cluster_.columns();
  if ((group.rejected_by & kFits) != 0 &&
      (c.free_pods[node.slot] + spare_pods < 1 || (cpu > 0 && cpu > c.free_cpu[node.slot] + spare_cpu) ||
       (memory > 0 && memory > c.free_memory[node.slot] + spare_memory)))
    return false;
  const Demand demand = history_.demand(pod);
  const FilterInput input{pod, cluster_, demand, options};
  if (const std::optional<Refusal> refused = refusal(input)) {
    parked_.also_rejected_by(id, filter_bit(refused->plugin));
    return false;
  }
  const NodeVerdict verdict = judge_with_nominated(input, cluster_, node, nominations_.on(node));
  for (const Objection& objection : verdict.objections)
    parked_.also_rejected_by(id, filter_bit(objection.plugin));
  return verdict.objections.empty() || (spare_pods > 0 && !verdict.unresolvable);
}

// What the pod's status says of a promise, unless nothing is said and nothing was: ours may not have got
// there.
void Scheduler::nominate(const Pod& pod, const std::string& before, Time now) {
  if (pod.nominated_node.empty()) {
    if (!before.empty()) drop_nomination(pod.id, now);
    return;
  }
  if (pod.nominated_node == before && nominations_.of(pod.id)) return;
  const auto node = cluster_.node_named(pod.nominated_node);
  if (!node) return;
  if (nominations_.of(pod.id) == *node) return;
  drop_nomination(pod.id, now);
  promise(pod.id, *node);
  release_alone(pod.id, now);
}

// What filters say of a node changes with what it is promised for.
void Scheduler::promise(PodId pod, NodeId node) {
  nominations_.set(pod, node);
  cluster_.touch(node);
}

void Scheduler::drop_nomination(PodId pod, Time now) {
  const std::optional<NodeId> node = nominations_.drop(pod);
  if (node) cluster_.touch(*node);
  const PodRecord* record = node ? cluster_.pod(pod) : nullptr;
  if (record) happened({kPodLeft, node, record->pod.shape.get()}, now);
}

void Scheduler::drop_order(PodId pod) {
  const auto at = orders_.find(pod);
  if (at == orders_.end()) return;
  for (const PodId victim : at->second.victims) ended_for_.erase(victim);
  orders_.erase(at);
}

// The last one has made room, or somebody else took it: either way the pod may look again.
void Scheduler::victim_gone(PodId victim, Time now) {
  const auto at = ended_for_.find(victim);
  if (at == ended_for_.end()) return;
  const PodId pod = at->second;
  ended_for_.erase(at);
  auto& victims = orders_[pod].victims;
  std::erase(victims, victim);
  if (!victims.empty()) return;
  orders_.erase(pod);
  release_alone(pod, now);
}

// Whoever is ending is waited for. An order that nobody seems to have heard is given up, and the pod looks
// again.
void Scheduler::give_up_late_orders(Time now) {
  std::vector<PodId> lost;
  next_late_order_ = Time::max();
  for (auto& [pod, order] : orders_) {
    if (order.until <= now) {
      const bool heard = std::all_of(order.victims.begin(), order.victims.end(), [&](PodId victim) {
        const PodRecord* record = cluster_.pod(victim);
        return record && record->pod.terminating;
      });
      if (!heard) lost.push_back(pod);
      order.until = now + kOrderHeard;
    }
    next_late_order_ = std::min(next_late_order_, order.until);
  }
  for (const PodId pod : lost) {
    drop_order(pod);
    release_alone(pod, now);
  }
}

void Scheduler::release_volumes(PodId pod, Time now) {
  const auto at = promised_.find(pod);
  if (at == promised_.end()) return;
  cluster_.release_volumes(at->second);
  promised_.erase(at);
  happened({kVolumeFreed}, now);
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
    if (reservations_[i].until > now && cluster_.has_node(reservations_[i].node)) {
      ++i;
      continue;
    }
    const Reservation dropped = std::move(reservations_[i]);
    reservations_.erase(reservations_.begin() + static_cast<std::ptrdiff_t>(i));
    cluster_.release(dropped.node, *dropped.shape, dropped.demand);
    freed(*dropped.shape, dropped.node, now);
  }
}

}  // namespace evenkeel::scheduling
