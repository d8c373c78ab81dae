#include "apps/group_plans.h"

#include <algorithm>

#include "scheduling/group_plan.h"
#include "scheduling/group_replay.h"

namespace evenkeel::apps {
namespace {

using scheduling::GroupProblem;

std::vector<PodId> members_of(const AppGroup& group, const std::vector<PodId>& order,
                              const OfflineCluster& cluster) {
  std::vector<PodId> members;
  for (const PodId pod : order) {
    const PodTemplate& shape = *cluster.pod(pod).shape;
    const bool waits = cluster.state().pod(pod)->place == PodPlace::pending;
    if (waits && shape.app_group == group.name && shape.name_space == group.name_space)
      members.push_back(pod);
  }
  return members;
}

}  // namespace

std::map<PodId, PlannedPod> plan_group_of(PodId pod, const std::vector<PodId>& order, OfflineCluster& cluster,
                                          const scheduling::SchedulingOptions& options) {
  const PodTemplate& shape = *cluster.pod(pod).shape;
  const AppGroup* group = shape.app_group.empty()
                              ? nullptr
                              : cluster.state().objects().app_group(shape.name_space, shape.app_group);
  if (!group || !options.joint.on) return {};
  const std::vector<PodId> waiting = members_of(*group, order, cluster);
  if (waiting.size() < 2 && !group->gang) return {};
  scheduling::Nominations nominations;
  for (const scheduling::Nomination& promise : cluster.nominations())
    nominations.set(promise.pod, promise.node);
  const scheduling::DecisionInput question = cluster.question(pod, options);
  const scheduling::GroupViewInput input{cluster.state(), cluster.history(), options, nominations, *group,
                                         waiting};
  const scheduling::GroupView view = view_group(input);
  const scheduling::GroupPlan plan = plan_group(view.problem, {.budget = options.joint.budget});
  std::vector<std::uint32_t> in_turn;
  for (std::uint32_t i = 0; i < waiting.size(); ++i) in_turn.push_back(i);
  const scheduling::ReplayedPlan replayed =
      replay_plan(view, plan.node_of, in_turn, input, question.cluster, question.now);

  const auto found = static_cast<std::size_t>(std::ranges::count_if(
      in_turn, [&](std::uint32_t i) { return replayed.node_of[i] != GroupProblem::kNowhere; }));
  const auto all = cluster.state().groups().of(group->name_space, group->name);
  const std::size_t wanted = std::max(all.size(), static_cast<std::size_t>(group->members));
  const bool gang_waits = group->gang && all.size() == waiting.size() && found < wanted;
  std::map<PodId, PlannedPod> planned;
  for (const std::uint32_t i : in_turn) {
    PlannedPod& each = planned[waiting[i]];
    if (gang_waits) {
      each.note = "gang " + group->name_space + "/" + group->name + ": " + std::to_string(found) + " of " +
                  std::to_string(wanted) + " members would find a place, so none is placed";
    } else if (replayed.node_of[i] != GroupProblem::kNowhere) {
      each.node = view.nodes[replayed.node_of[i]];
      each.note = "planned together with " + std::to_string(found - 1) + " others of its group";
    }
  }
  return planned;
}

void follow_plan(const PlannedPod& planned, scheduling::Decision& decision) {
  if (planned.note.empty()) return;
  if (!planned.node) {
    decision.node.reset();
    decision.unschedulable = planned.note;
    return;
  }
  if (std::ranges::find(decision.feasible, *planned.node) == decision.feasible.end()) return;
  decision.node = planned.node;
  decision.scores.note = planned.note;
}

}  // namespace evenkeel::apps
