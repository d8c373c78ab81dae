#include "scheduling/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "scheduling/filters/filter.h"
#include "scheduling/filters/volume_claims.h"
#include "scheduling/node_kernels.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;
constexpr Duration kHeldLook = 1s;       // elapsed time alone may free a held pod
constexpr Duration kReservation = 2min;  // an evicted pod's successor is here by then

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
      history_(profiles_.front().options.history),
      queue_(order_of(profiles_), profiles_.front().options.longest_wait) {
  for (const SchedulerProfile& profile : profiles_) {
    rebalancers_.emplace_back(profile.options.moves, profile.scheduler_name);
    counts_use_ = counts_use_ || profile.options.by_use.on;
    stale_after_ = std::min(stale_after_, profile.options.stale_after);
  }
}

std::optional<std::size_t> Scheduler::profile_of(const PodSpec& spec) const {
  for (std::size_t i = 0; i < profiles_.size(); ++i)
    if (profiles_[i].scheduler_name.empty() || profiles_[i].scheduler_name == spec.scheduler_name) return i;
  return std::nullopt;
}

Next Scheduler::next(Time now) {
  bring_back(now);
  if (auto planned = look_at_lined_up(now)) return *std::move(planned);
  while (const auto queued = pop(now)) {
    if (!still_waits(*queued)) continue;
    const Pod& pod = cluster_.pod(queued->pod)->pod;
    if (!pod.terminating) return look_at(pod, now);
    // It will never run: its end is on the way.
    leave_group(pod.id, now);
    put(per_pod(pod.id), Where::shelved);
  }

  for (std::size_t i = 0; i < profiles_.size(); ++i) {
    if (rebalancers_[i].next_look() > now) continue;
    if (const auto move = rebalancers_[i].propose(cluster_, history_, options(i), now))
      return Action{begin_move(*move, options(i).moves.dry_run, now)};
  }
  return NothingToDo{};
}

EvictPod Scheduler::begin_move(const Move& move, bool dry_run, Time now) {
  if (!dry_run) {
    const PodRecord& record = *cluster_.pod(move.pod);
    // Reserved first, so that nobody takes the place while the pod is on its way.
    cluster_.reserve(move.to, *record.pod.shape, record.expected);
    reservations_.push_back({move.to, record.pod.shape, record.expected, now + kReservation, move.pod});
  }
  return {move.pod, move.to, move.why, dry_run, move.gain};
}

std::optional<EvictPod> Scheduler::admit(EvictPod eviction, std::size_t profile, Time now) {
  const MoveBudget& moves = options(profile).moves;
  if (!moves.rules.on) return eviction;
  const std::optional<Move> move =
      rebalancers_[profile].relieve(eviction.pod, cluster_, history_, options(profile), now);
  if (!move) return std::nullopt;
  EvictPod admitted = begin_move(*move, moves.dry_run, now);
  if (!eviction.why.empty()) admitted.why = std::move(eviction.why) + "; " + admitted.why;
  return admitted;
}

// Whoever has waited long enough.
void Scheduler::bring_back(Time now) {
  if (next_doubt_ <= now) doubt_old_samples(now);
  take_due(failed_, now);
  take_due(released_, now);
  while (const auto group = parked_.overdue(now, queue_options_.longest_parked)) release(*group, now);
  if (next_held_look_ <= now) {
    next_held_look_ = Time::max();
    queue_.release_held();
  }
  if (!reservations_.empty()) drop_reservations(now);
  if (next_late_order_ <= now) give_up_late_orders(now);
  if (next_plan_end_ <= now) drop_late_plans(now);
}

std::optional<QueuedPod> Scheduler::pop(Time now) {
  const auto run_time = [&](PodId id) {
    const PodRecord* record = cluster_.pod(id);
    return record ? runs_.of(record->pod, history_, now).seconds : 0.0;
  };
  std::optional<QueuedPod> first = queue_.pop(now, run_time);
  if (first || released_.empty()) return first;
  // Nobody else waits, so nobody is kept waiting by a pod that tries again early.
  take_due(released_, Time::max());
  return queue_.pop(now, run_time);
}

bool Scheduler::still_waits(const QueuedPod& queued) {
  const PodRecord* record = cluster_.pod(queued.pod);
  if (!record || record->place != PodPlace::pending) return false;
  const PerPod& own = per_pod(queued.pod);
  return own.where == Where::queued && own.queued.ticket == queued.ticket;
}

Next Scheduler::look_at(const Pod& pod, Time now) {
  if (const std::string_view feature = pod.shape->plain ? "" : unsupported_feature(pod.spec());
      !feature.empty()) {
    leave_group(pod.id, now);
    put(per_pod(pod.id), Where::shelved);
    return Action{MarkUnschedulable{pod.id, "the pod uses " + std::string(feature) +
                                                ", which is not honoured here: left pending, not guessed"}};
  }
  if (auto planned = look_at_member(pod, now)) return *std::move(planned);
  const Demand demand = history_.demand(pod);
  // A moved pod's successor takes the room that was kept for it.
  const bool has_reservation = take_reservation(pod, demand);
  if (!has_reservation) {
    // One of its kind was rejected, and nothing has happened since that may help.
    const ParkedPods::GroupId kind = parked_.find(key_of(pod));
    if (kind != ParkedPods::kNone && parked_.group(kind).settled && !options_for(pod.id).by_use.on) {
      const std::string why = parked_.group(kind).why;
      PerPod& own = per_pod(pod.id);
      if (own.group != kind) leave_group(pod.id, now);
      ++own.attempts;
      own.tried = now;
      own.group = kind;
      parked_.join(kind, own.queued);
      put(own, Where::parked);
      return Action{MarkUnschedulable{pod.id, why}};
    }
  }
  if (has_reservation || find_feasible(pod, demand))
    return PlacementRequest{pod, cluster_, history_,  runs_,           options_for(pod.id),
                            now, demand,   feasible_, feasible_count_, per_pod(pod.id).profile};
  return give_up(pod, demand, now);
}

bool Scheduler::find_feasible(const Pod& pod, const Demand& demand) {
  const SchedulingOptions& options = options_for(pod.id);
  const FilterInput input{pod, cluster_, demand, options};
  if (!nominations_.empty() && may_go_to_promised_node(pod, input)) return true;
  const auto& present = cluster_.columns().present;
  feasible_.assign(present.begin(), present.end());
  apply_filters(input, feasible_);
  if (!nominations_.empty()) heed_nominations(input);
  if (const auto percentage = options.profile.percentage_of_nodes_to_score) sample_nodes(*percentage);
  feasible_count_ = count_set(feasible_.data(), feasible_.size());
  return feasible_count_ > 0;
}

// Looked at before all others: where there is room by now, nothing else is compared.
bool Scheduler::may_go_to_promised_node(const Pod& pod, const FilterInput& input) {
  const std::optional<NodeId> node = nominations_.of(pod.id);
  if (!node || !cluster_.has_node(*node) || refusal(input) ||
      !judge_with_nominated(input, cluster_, *node, nominations_.on(*node)).objections.empty())
    return false;
  feasible_.assign(cluster_.columns().size(), 0);
  feasible_[node->slot] = 1;
  feasible_count_ = 1;
  return true;
}

// Nodes that were promised to others no less important must have room for them too.
void Scheduler::heed_nominations(const FilterInput& input) {
  for (const auto& [node, promised] : nominations_.by_node())
    if (node.slot < feasible_.size() && feasible_[node.slot])
      feasible_[node.slot] = judge_with_nominated(input, cluster_, node, promised).objections.empty();
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

RejectionMemo::Rejection Scheduler::reject(const FilterInput& input) {
  RejectionMemo::Rejection rejection;
  std::optional<std::string> failure;
  rejection.why = unschedulable_message(input, [&](NodeId node) {
    NodeVerdict verdict = judge_with_nominated(input, cluster_, node, nominations_.on(node));
    for (const Objection& objection : verdict.objections) rejection.by |= filter_bit(objection.plugin);
    if (verdict.failed && !failure) failure = verdict.objections.front().reason;
    return verdict;
  });
  if (failure) rejection = {*failure, 0, true};
  if (const std::optional<Refusal> refused = refusal(input)) rejection.by = filter_bit(refused->plugin);
  return rejection;
}

// No node will do: others are asked to make room, or the pod waits and is told why.
Action Scheduler::give_up(const Pod& pod, const Demand& demand, Time now) {
  const FilterInput input{pod, cluster_, demand, options_for(pod.id)};
  const bool remembers = RejectionMemo::applies(input);
  RejectionMemo::Rejection rejection =
      remembers ? memo_.rejection(input, cluster_, nominations_, per_pod(pod.id).profile) : reject(input);
  std::string& why = rejection.why;
  if (rejection.failed) {  // not a no: it is tried again, as after a failed binding
    leave_group(pod.id, now);
    PerPod& own = per_pod(pod.id);
    ++own.attempts;
    own.tried = now;
    wait_until(pod.id, Where::failed, now + queue_options_.backoff(own.attempts));
    return MarkUnschedulable{pod.id, std::move(why)};
  }

  PreemptionOutcome outcome;
  bool keeps_promise = false;
  if (awaits_victims(input)) {
    keeps_promise = true;
    outcome.message = "preemption: not eligible due to a terminating pod on the nominated node.";
  } else if (input.options.profile.preemption && cluster_.node_count() > 0) {
    outcome = remembers ? memo_.preempt(input, cluster_, nominations_, now)
                        : preempt(input, cluster_, nominations_, now);
    keeps_promise = outcome.message.starts_with("preemption: not eligible");
  }
  if (outcome.victims) {
    drop_nomination(pod.id, now);
    promise(pod.id, outcome.victims->node);
    park(pod, rejection.by, why, now);
    return order(pod, std::move(*outcome.victims), std::move(why), now);
  }
  // Its status may promise a node that has left since.
  const bool drops = !keeps_promise && (nominations_.of(pod.id).has_value() || !pod.nominated_node.empty());
  if (drops) drop_nomination(pod.id, now);
  if (!outcome.message.empty()) why += " " + outcome.message;
  park(pod, rejection.by, why, now);
  return MarkUnschedulable{pod.id, std::move(why), drops};
}

// Whether pods are being ended for it on a node that still could do.
bool Scheduler::awaits_victims(const FilterInput& input) {
  const auto at = orders_.find(input.pod.id);
  if (at == orders_.end()) return false;
  const NodeId node = at->second.node;
  if (cluster_.has_node(node) && nominations_.of(input.pod.id) == node && !judge(input, node).unresolvable)
    return true;
  drop_order(input.pod.id);
  return false;
}

Action Scheduler::order(const Pod& pod, Victims victims, std::string why, Time now) {
  drop_order(pod.id);
  // Less important pods that were promised the node have to look elsewhere.
  std::vector<PodId> outdone;
  for (const Nomination& nomination : nominations_.on(victims.node)) {
    const PodRecord* other = cluster_.pod(nomination.pod);
    if (nomination.pod != pod.id && (!other || other->pod.spec().priority < pod.spec().priority))
      outdone.push_back(nomination.pod);
  }
  for (const PodId other : outdone) {
    drop_order(other);
    cluster_.touch(victims.node);
    nominations_.drop(other);
    release_alone(other, now);
  }
  orders_[pod.id] = {victims.node, victims.pods, now + kOrderHeard};
  next_late_order_ = std::min(next_late_order_, now + kOrderHeard);
  for (const PodId victim : victims.pods) ended_for_[victim] = pod.id;
  return PreemptPods{pod.id, victims.node, std::move(victims.pods), std::move(why)};
}

Action Scheduler::commit(const PlacementRequest& request, NodeId chosen) {
  EVENKEEL_CHECK(chosen.slot < request.feasible.size() && request.feasible[chosen.slot]);
  const PodId pod = request.pod.id;
  ++epoch_;
  // Assumed before it is confirmed, so the next pod sees the room already taken.
  runs_.placed(request.pod, request.now);
  BindPod bind{pod, chosen};
  if (uses_claims(request.pod.spec())) {
    bind.volumes = plan_volumes({request.pod, cluster_, request.demand, request.options}, chosen).bindings;
    cluster_.reserve_volumes(bind.volumes, chosen);
    promised_[pod] = bind.volumes;
  }
  cluster_.assume(pod, chosen, request.demand, request.now);
  --waiting_;
  stop_waiting(pod, request.now);
  placed(*request.pod.shape, chosen, request.now);
  return bind;
}

void Scheduler::hold(const PlacementRequest& request) {
  queue_.hold(per_pod(request.pod.id).queued);
  next_held_look_ = request.now + kHeldLook;
}

void Scheduler::look_at_held() {
  next_held_look_ = Time::max();
  queue_.release_held();
}

Time Scheduler::wake_at() const {
  Time at = std::min({parked_.next_overdue(queue_options_.longest_parked), next_held_look_, next_late_order_,
                      next_plan_end_});
  for (const Rebalancer& rebalancer : rebalancers_) at = std::min(at, rebalancer.next_look());
  if (!failed_.empty()) at = std::min(at, failed_.top().at);
  if (!released_.empty()) at = std::min(at, released_.top().at);
  for (const Reservation& reservation : reservations_) at = std::min(at, reservation.until);
  return at;
}

}  // namespace evenkeel::scheduling
