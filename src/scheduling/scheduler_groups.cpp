// Groups of pods that are planned together, and those that are placed as a whole or not at all.
#include <algorithm>

#include "base/sort_stably.h"
#include "scheduling/filters/filter.h"
#include "scheduling/group_plan.h"
#include "scheduling/group_replay.h"
#include "scheduling/group_view.h"
#include "scheduling/scheduler.h"

namespace evenkeel::scheduling {
namespace {

constexpr std::uint32_t kNowhere = GroupProblem::kNowhere;

std::int32_t rank_of(const AppGroup& group, const std::string& workload) {
  const auto at = std::ranges::lower_bound(group.order, workload, {}, &AppGroup::Rank::selector);
  return at != group.order.end() && at->selector == workload ? at->index : -1;
}

std::string group_name(const AppGroup& group) { return group.name_space + "/" + group.name; }

}  // namespace

const AppGroup* Scheduler::joint_group_of(const Pod& pod) {
  if (pod.shape->app_group.empty() || !options_for(pod.id).joint.on) return nullptr;
  return cluster_.objects().app_group(pod.shape->name_space, pod.shape->app_group);
}

// The pod's planned place, if it is one of a group that is planned as a whole; nothing: it is looked at like
// any other.
std::optional<Next> Scheduler::look_at_member(const Pod& pod, Time now) {
  const AppGroup* group = joint_group_of(pod);
  if (!group) return std::nullopt;
  for (const bool planned_afresh : {false, true}) {
    if (auto placed = take_planned_place(pod, now)) return placed;
    if (planned_afresh) break;
    if (const std::optional<std::string> why = plan_members(*group, pod, now))
      return wait_for_mates(pod, *why, now);
    // Whoever others depend on goes first; this one's turn comes.
    if (!lined_up_.empty() && lined_up_.front() != pod.id && planned_.contains(pod.id))
      if (auto first = look_at_lined_up(now)) return first;
  }
  return std::nullopt;
}

std::optional<Next> Scheduler::take_planned_place(const Pod& pod, Time now) {
  const auto at = planned_.find(pod.id);
  if (at == planned_.end()) return std::nullopt;
  const Planned planned = at->second;
  const Demand demand = history_.demand(pod);
  const FilterInput input{pod, cluster_, demand, options_for(pod.id)};
  if (!cluster_.has_node(planned.node) || refusal(input) ||
      !judge_with_nominated(input, cluster_, planned.node, nominations_.on(planned.node))
           .objections.empty()) {
    drop_plan(pod.id, now);
    return std::nullopt;
  }
  feasible_.assign(cluster_.columns().size(), 0);
  feasible_[planned.node.slot] = 1;
  feasible_count_ = 1;
  return PlacementRequest{pod,          cluster_,     history_,  runs_,           options_for(pod.id),
                          now,          demand,       feasible_, feasible_count_, per_pod(pod.id).profile,
                          planned.node, planned.mates};
}

// Members that wait and may be asked about. Of a gang all of them, else not those that no node would take:
// each of these is tried alone when something may have helped it.
std::vector<PodId> Scheduler::waiting_members(const AppGroup& group, const Pod& asked) {
  std::vector<PodId> waiting;
  for (const PodId id : cluster_.groups().of(group.name_space, group.name)) {
    const PodRecord& record = *cluster_.pod(id);
    const PerPod& own = per_pod(id);
    if (record.place != PodPlace::pending || !own.ours || own.profile != per_pod(asked.id).profile ||
        record.pod.terminating)
      continue;
    const bool may_be_asked = own.where == Where::queued || own.where == Where::failed ||
                              own.where == Where::released || (group.gang && own.where == Where::parked);
    if (id == asked.id || (may_be_asked && unsupported_feature(record.pod.spec()).empty()))
      waiting.push_back(id);
  }
  sort_stably(waiting, [&](PodId a, PodId b) {
    const Pod &one = cluster_.pod(a)->pod, &other = cluster_.pod(b)->pod;
    if (one.spec().priority != other.spec().priority) return one.spec().priority > other.spec().priority;
    return rank_of(group, one.shape->app_workload) < rank_of(group, other.shape->app_workload);
  });
  const std::size_t most = options_for(asked.id).joint.most_pods;
  if (waiting.size() > most && !group.gang) waiting.resize(most);
  return waiting;
}

// Plans those that wait and promises each its place. Returns why all of them must wait, if they must.
std::optional<std::string> Scheduler::plan_members(const AppGroup& group, const Pod& asked, Time now) {
  const std::vector<PodId> waiting = waiting_members(group, asked);
  const auto members = cluster_.groups().of(group.name_space, group.name);
  const auto placed = static_cast<std::size_t>(
      std::ranges::count_if(members, [&](PodId id) { return cluster_.pod(id)->place != PodPlace::pending; }));
  const std::size_t wanted = std::max(members.size(), static_cast<std::size_t>(std::max(group.members, 1)));
  // Once begun it is a group like any other: who failed, or comes later, is no reason to keep others waiting.
  const bool gang = group.gang && placed == 0;
  if (gang && waiting.size() < wanted)
    return "gang " + group_name(group) + ": waits for " + std::to_string(wanted - waiting.size()) +
           " of its " + std::to_string(wanted) + " members, which are not there or not ready";
  if (!gang && (waiting.size() < 2 || std::ranges::find(waiting, asked.id) == waiting.end()))
    return std::nullopt;
  FailedPlan& failed = failed_plans_[group_name(group)];
  if (failed.epoch == epoch_ && failed.waiting == waiting)
    return gang ? std::optional(failed.why) : std::nullopt;

  const GroupViewInput input{cluster_, history_, options_for(asked.id), nominations_, group, waiting};
  std::vector<std::optional<NodeId>> before;
  for (const PodId pod : waiting) {
    const auto at = planned_.find(pod);
    before.push_back(at == planned_.end() ? std::nullopt : std::optional(at->second.node));
    if (at != planned_.end()) drop_plan(pod, now);
  }
  const ReplayedPlan plan = search_plan(input, before, gang, now);
  std::size_t found = 0;
  for (std::size_t i = 0; i < waiting.size(); ++i) found += plan.node_of[i] != kNowhere ? 1 : 0;
  if (found < waiting.size()) failed = {epoch_, waiting, ""};
  if (gang && found < waiting.size())
    return failed.why = "gang " + group_name(group) + ": " + std::to_string(found) + " of " +
                        std::to_string(wanted) + " members would find a place, so none is placed; " +
                        plan.why;
  promise_places(plan.places, waiting, now);
  return std::nullopt;
}

// A gang's plan that a filter refuses in part is searched again with what was refused ruled out.
ReplayedPlan Scheduler::search_plan(const GroupViewInput& input,
                                    const std::vector<std::optional<NodeId>>& before, bool gang, Time now) {
  constexpr int kMostSearches = 4;
  GroupView view = view_group(input);
  std::vector<std::uint32_t> start(view.pods.size(), kNowhere), order;
  for (std::uint32_t i = 0; i < input.waiting.size(); ++i) {
    order.push_back(i);
    const auto at = before[i] ? std::ranges::find(view.nodes, *before[i]) : view.nodes.end();
    if (at != view.nodes.end()) start[i] = static_cast<std::uint32_t>(at - view.nodes.begin());
  }
  const GroupPlanOptions options{.budget = input.options.joint.budget};
  ReplayedPlan best;
  std::size_t most = 0;
  for (int search = 0; search < kMostSearches; ++search) {
    const GroupPlan plan = replan_group(view.problem, start, options);
    ReplayedPlan replayed = replay_plan(view, plan.node_of, order, input, cluster_, now);
    const auto found = static_cast<std::size_t>(
        std::ranges::count_if(order, [&](std::uint32_t i) { return replayed.node_of[i] != kNowhere; }));
    for (const std::uint32_t i : replayed.refused) view.problem.pods[i].allowed[plan.node_of[i]] = 0;
    const bool again = gang && found < order.size() && !replayed.refused.empty();
    if (search == 0 || found > most) {
      for (const std::uint32_t i : order)
        replayed.places.push_back(
            replayed.node_of[i] == kNowhere ? std::nullopt : std::optional(view.nodes[replayed.node_of[i]]));
      best = std::move(replayed);
      most = found;
    }
    if (!again) break;
  }
  return best;
}

void Scheduler::promise_places(const std::vector<std::optional<NodeId>>& places,
                               const std::vector<PodId>& waiting, Time now) {
  const auto found = static_cast<std::size_t>(
      std::ranges::count_if(places, [](const auto& place) { return place.has_value(); }));
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (!places[i]) continue;
    drop_nomination(waiting[i], now);
    promise(waiting[i], *places[i]);
    const Time until = now + options_for(waiting[i]).joint.keep;
    planned_[waiting[i]] = {*places[i], until, found - 1};
    next_plan_end_ = std::min(next_plan_end_, until);
    if (std::ranges::find(lined_up_, waiting[i]) == lined_up_.end()) lined_up_.push_back(waiting[i]);
  }
}

// Those whose places were planned together are bound one right after the other.
std::optional<Next> Scheduler::look_at_lined_up(Time now) {
  while (!lined_up_.empty()) {
    const PodId id = lined_up_.front();
    lined_up_.pop_front();
    const PodRecord* record = cluster_.pod(id);
    if (!record || record->place != PodPlace::pending || !planned_.contains(id)) continue;
    PerPod& own = per_pod(id);
    if (record->pod.terminating || own.where == Where::gated || own.where == Where::shelved ||
        own.where == Where::unsettled) {
      drop_plan(id, now);
      continue;
    }
    leave_group(id, now);
    ++own.queued.ticket;
    put(own, Where::queued);
    return look_at(record->pod, now);
  }
  return std::nullopt;
}

// Its place is anybody's again, and it is looked at like any other.
void Scheduler::drop_plan(PodId pod, Time now) {
  const auto at = planned_.find(pod);
  if (at == planned_.end()) return;
  const NodeId node = at->second.node;
  planned_.erase(at);
  if (nominations_.of(pod) == node) drop_nomination(pod, now);
  const PodRecord* record = cluster_.pod(pod);
  if (record && record->place == PodPlace::pending && per_pod(pod).where == Where::queued) enqueue(pod);
}

void Scheduler::drop_late_plans(Time now) {
  std::vector<PodId> late;
  next_plan_end_ = Time::max();
  for (const auto& [pod, planned] : planned_)
    if (planned.until <= now) {
      late.push_back(pod);
    } else {
      next_plan_end_ = std::min(next_plan_end_, planned.until);
    }
  for (const PodId pod : late) drop_plan(pod, now);
}

// A member of a gang whose mates are not there or find no place. It is tried again after its back-off: what
// may help it is anything that may help any of them.
Next Scheduler::wait_for_mates(const Pod& pod, const std::string& why, Time now) {
  leave_group(pod.id, now);
  PerPod& own = per_pod(pod.id);
  ++own.attempts;
  own.tried = now;
  wait_until(pod.id, Where::failed, now + queue_options_.backoff(own.attempts));
  return Action{MarkUnschedulable{pod.id, why}};
}

}  // namespace evenkeel::scheduling
