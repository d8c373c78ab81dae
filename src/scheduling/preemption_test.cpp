#include "scheduling/preemption.h"

#include <gtest/gtest.h>

#include "scheduling/scheduler.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<const PodTemplate> shape(std::int32_t priority, std::int64_t milli_cpu, Labels labels = {}) {
  PodSpec spec = spec_asking(milli_cpu, 1);
  spec.priority = priority;
  return std::make_shared<const PodTemplate>("default", std::move(labels), std::vector<OwnerReference>{},
                                             WorkloadId{}, std::move(spec));
}

// Nodes of 4 cores.
class Preemption : public ::testing::Test {
 protected:
  TestCluster cluster{3};
  std::vector<Nomination> nominations;
  const Pod incoming = test_pod({1, 1}, shape(100, 4000));

  PreemptionOutcome run(const Pod& pod) {
    return preempt({pod, cluster.state, {}, cluster.options}, cluster.state, nominations, cluster.now);
  }
  PodId started(NodeId node, std::shared_ptr<const PodTemplate> of, Time at) {
    const PodId id = cluster.add_running(node, of);
    Pod pod = cluster.state.pod(id)->pod;
    pod.started = at;
    cluster.state.update_pod(pod);
    return id;
  }
};

TEST_F(Preemption, EndsNoMoreThanItMustAndLeavesTheClusterAsItWas) {
  const PodId small = cluster.add_running({0}, shape(1, 1000));
  const PodId large = cluster.add_running({0}, shape(2, 3000));
  cluster.add_running({1}, shape(100, 4000));
  cluster.add_running({2}, shape(100, 4000));
  const PreemptionOutcome outcome = run(test_pod({1, 1}, shape(100, 1000)));
  ASSERT_TRUE(outcome.victims);
  EXPECT_EQ(outcome.victims->node, NodeId{0});
  EXPECT_EQ(outcome.victims->pods, std::vector<PodId>{small});  // the more important one is spared
  EXPECT_EQ(run(incoming).victims->pods, (std::vector<PodId>{large, small}));
  EXPECT_EQ(cluster.state.columns().free_cpu[0], 0);
  EXPECT_FALSE(cluster.state.pod(small)->hidden);
}

TEST_F(Preemption, DoesNotWaitForVictimsOnAPromisedNodeThatWillNotDoAnyway) {
  const PodId leaving = cluster.add_running({0}, shape(1, 1000));
  Pod victim = cluster.state.pod(leaving)->pod;
  victim.terminating = victim.disrupted_by_us = true;
  cluster.state.update_pod(victim);
  PodSpec spec = spec_asking(4000, 1);
  spec.priority = 100;
  Pod waiting = test_pod({1, 1}, test_shape(spec));
  waiting.nominated_node = "node-0";
  nominations = {{waiting.id, {0}}};
  EXPECT_EQ(run(waiting).message, "preemption: not eligible due to a terminating pod on the nominated node.");
  spec.volumes.push_back({"v", VolumeKind::claim, "missing", false, "", {}});
  waiting.shape = test_shape(spec);
  EXPECT_EQ(run(waiting).message,
            "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.");
}

// As in kube-scheduler, where a plugin with nothing to say of the cluster as it is takes no part any more.
TEST_F(Preemption, LeavesRulesOfPromisedPodsOutWhereNobodyElseHasAny) {
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    Node node = test_node(slot);
    node.labels.set("kubernetes.io/hostname", node.name);
    cluster.state.set_node(node);
  }
  PodSpec alone = spec_asking(1, 1);
  alone.pod_anti_affinity.required = {{LabelSelector{}, {}, {}, "kubernetes.io/hostname", {}, {}}};
  const Pod promised = test_pod({2, 1}, test_shape(alone));
  cluster.state.add_pending(promised);
  nominations = {{promised.id, {0}}};
  const Pod other = pod_with(spec_asking(1, 1));
  const FilterInput input{other, cluster.state, {}, cluster.options};
  EXPECT_TRUE(judge_with_nominated(input, cluster.state, {0}, nominations).objections.empty());
  cluster.add_running({1}, test_shape(alone));  // now there is a rule to look at
  const FilterInput again{other, cluster.state, {}, cluster.options};
  EXPECT_FALSE(judge_with_nominated(again, cluster.state, {0}, nominations).objections.empty());
}

TEST_F(Preemption, PrefersTheNodeWhoseMostImportantVictimIsLeastImportant) {
  cluster.add_running({0}, shape(50, 4000));
  cluster.add_running({1}, shape(10, 2000));
  cluster.add_running({1}, shape(10, 2000));
  cluster.add_running({2}, shape(60, 4000));
  EXPECT_EQ(run(incoming).victims->node, NodeId{1});
}

TEST_F(Preemption, ThenTheLowestSumThenTheFewestThenTheLatestStart) {
  cluster.add_running({0}, shape(10, 2000));
  cluster.add_running({0}, shape(10, 2000));
  started({1}, shape(10, 4000), Time{} + 10min);
  started({2}, shape(10, 4000), Time{} + 20min);
  EXPECT_EQ(run(incoming).victims->node, NodeId{2});
}

TEST_F(Preemption, BreaksABudgetOnlyWhenNothingElseWillDo) {
  PodDisruptionBudget budget;
  budget.name_space = "default";
  budget.name = "db";
  budget.selector = LabelSelector{{{"app", SelectorOperator::in, {"db"}}}};
  cluster.state.set_object(budget);
  cluster.add_running({0}, shape(1, 4000, {{"app", "db"}}));
  cluster.add_running({1}, shape(50, 4000));
  cluster.add_running({2}, shape(100, 4000));
  EXPECT_EQ(run(incoming).victims->node, NodeId{1});
  cluster.state.remove_node({1});
  const PreemptionOutcome outcome = run(incoming);
  EXPECT_EQ(outcome.victims->node, NodeId{0});
  EXPECT_EQ(outcome.victims->budget_violations, 1U);
  budget.disruptions_allowed = 1;
  cluster.state.set_object(budget);
  EXPECT_EQ(run(incoming).victims->budget_violations, 0U);
}

TEST_F(Preemption, SaysWhyNobodyIsPreempted) {
  cluster.add_running({0}, shape(100, 4000));
  cluster.state.set_node(test_node(1, 1000));
  Node cordoned = test_node(2);
  cordoned.unschedulable = true;
  cluster.state.set_node(cordoned);
  EXPECT_EQ(run(incoming).message,
            "preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 "
            "Preemption is not helpful for scheduling.");
  PodSpec spec = spec_asking(4000, 1);
  spec.priority = 100;
  spec.preemption = PreemptionPolicy::never;
  EXPECT_EQ(run(pod_with(spec)).message, "preemption: not eligible due to preemptionPolicy=Never.");
}

TEST_F(Preemption, EndsPodsThatDoNotWantTheIncomingOneBeside) {
  PodSpec shy = spec_asking(100, 1);
  PodAffinityTerm term;
  term.selector = LabelSelector{{{"app", SelectorOperator::in, {"web"}}}};
  term.topology_key = "host";
  shy.pod_anti_affinity.required = {term};
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    Node node = test_node(slot);
    node.labels = {{"host", node.name}};
    cluster.state.set_node(node);
  }
  const PodId first = cluster.add_running({0}, test_shape(shy));
  cluster.add_running({0}, shape(5, 100));
  shy.priority = 200;
  cluster.add_running({1}, test_shape(shy));
  cluster.add_running({2}, test_shape(shy));
  const PreemptionOutcome outcome = run(test_pod({1, 1}, shape(100, 100, {{"app", "web"}})));
  ASSERT_TRUE(outcome.victims);
  EXPECT_EQ(outcome.victims->pods, std::vector<PodId>{first});
}

TEST_F(Preemption, LeavesTheRoomToThoseItWasPromisedTo) {
  cluster.state.add_pending(test_pod({7, 1}, shape(100, 3000)));
  nominations = {{{7, 1}, {0}}};
  const Pod equal = test_pod({1, 1}, shape(100, 2000)), greater = test_pod({2, 1}, shape(200, 2000));
  const FilterInput of_equal{equal, cluster.state, {}, cluster.options};
  const FilterInput of_greater{greater, cluster.state, {}, cluster.options};
  EXPECT_EQ(judge_with_nominated(of_equal, cluster.state, {0}, nominations).objections.front().reason,
            "Insufficient cpu");
  EXPECT_TRUE(judge_with_nominated(of_greater, cluster.state, {0}, nominations).objections.empty());
  EXPECT_TRUE(judge_with_nominated(of_equal, cluster.state, {1}, nominations).objections.empty());
  EXPECT_EQ(cluster.state.columns().free_cpu[0], 4000);
}

// --- and the scheduler that asks for it -----------------------------------------------------------

TEST(SchedulerPreempts, AndBindsThePodOnceItsVictimsAreGone) {
  const Time now{1h};
  Scheduler scheduler{SchedulingOptions{}};
  for (std::uint32_t slot = 0; slot < 2; ++slot) scheduler.observe(NodeAdded{test_node(slot)}, now);
  scheduler.observe(PodFound{test_pod({0, 1}, shape(1, 4000)), {0}}, now);
  scheduler.observe(PodFound{test_pod({1, 1}, shape(100, 4000)), {1}}, now);
  scheduler.observe(PodAdded{test_pod({2, 1}, shape(50, 4000))}, now);
  const Next crowded = scheduler.next(now);
  const auto& preemption = std::get<PreemptPods>(std::get<Action>(crowded));
  EXPECT_EQ(preemption.pod, (PodId{2, 1}));
  EXPECT_EQ(preemption.node, NodeId{0});
  EXPECT_EQ(preemption.victims, (std::vector<PodId>{{0, 1}}));
  scheduler.observe(PodGone{{0, 1}, PodEnd::deleted}, now);
  // Another, as important, comes by: the room is not its to take.
  scheduler.observe(PodAdded{test_pod({3, 1}, shape(50, 100))}, now);
  const Next promised = scheduler.next(now + 2s);
  const auto* request = std::get_if<PlacementRequest>(&promised);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->pod.id, (PodId{2, 1}));
  EXPECT_EQ(request->feasible_count, 1U);
  scheduler.commit(*request, {0});
  const Next late = scheduler.next(now + 2s);
  EXPECT_TRUE(std::holds_alternative<MarkUnschedulable>(std::get<Action>(late)));
}

TEST(SchedulerSamples, AsManyNodesAsTheProfileWantsLookedAt) {
  SchedulingOptions options;
  options.profile.percentage_of_nodes_to_score = 0;
  Scheduler scheduler{options};
  for (std::uint32_t slot = 0; slot < 500; ++slot) scheduler.observe(NodeAdded{test_node(slot)}, {});
  scheduler.observe(PodAdded{test_pod({0, 1}, shape_asking(1, 1))}, {});
  scheduler.observe(PodAdded{test_pod({1, 1}, shape_asking(1, 1))}, {});
  const Next some = scheduler.next({});
  const auto first = std::get<PlacementRequest>(some);
  EXPECT_EQ(first.feasible_count, 230U);  // 50 - 500 / 125 percent
  EXPECT_TRUE(first.feasible[0]);
  scheduler.commit(first, {0});
  const Next others = scheduler.next({});
  EXPECT_FALSE(std::get<PlacementRequest>(others).feasible[0]);  // goes on where the last look ended
  EXPECT_TRUE(std::get<PlacementRequest>(others).feasible[230]);
}

TEST(SchedulerBindsVolumes, AndKeepsThemForThePodUntilItsBindingFails) {
  Scheduler scheduler{SchedulingOptions{}};
  scheduler.observe(NodeAdded{test_node(0)}, {});
  scheduler.observe(
      ObjectSet{StorageClass{"s", "kubernetes.io/no-provisioner", BindingMode::wait_for_first_consumer, {}}},
      {});
  PersistentVolume disk;
  disk.name = "disk";
  disk.storage_class = "s";
  scheduler.observe(ObjectSet{disk}, {});
  PodSpec spec = spec_asking(1, 1);
  for (std::uint32_t i = 0; i < 2; ++i) {
    PersistentVolumeClaim claim;
    claim.name_space = "default";
    claim.name = "claim-" + std::to_string(i);
    claim.storage_class = "s";
    scheduler.observe(ObjectSet{claim}, {});
    spec.volumes = {{"v", VolumeKind::claim, claim.name, false, "", {}}};
    scheduler.observe(PodAdded{test_pod({i, 1}, test_shape(spec))}, {});
  }
  const Next served = scheduler.next({});
  const Action bind = scheduler.commit(std::get<PlacementRequest>(served), {0});
  EXPECT_EQ(std::get<BindPod>(bind).volumes, (std::vector<VolumeBinding>{{"default", "claim-0", "disk"}}));
  const Next unserved = scheduler.next({});
  EXPECT_TRUE(std::holds_alternative<MarkUnschedulable>(std::get<Action>(unserved)));
  scheduler.observe(BindFailed{{0, 1}, "conflict"}, {});
  const Next again = scheduler.next(Time{} + 1min);
  EXPECT_TRUE(std::holds_alternative<PlacementRequest>(again));
}

TEST(SchedulerGates, AreLiftedByAnUpdate) {
  Scheduler scheduler{SchedulingOptions{}};
  scheduler.observe(NodeAdded{test_node(0)}, {});
  PodSpec spec = spec_asking(1, 1);
  spec.scheduling_gates = {"wait"};
  scheduler.observe(PodAdded{test_pod({0, 1}, test_shape(spec))}, {});
  EXPECT_TRUE(std::holds_alternative<NothingToDo>(scheduler.next({})));
  scheduler.observe(PodUpdated{test_pod({0, 1}, shape_asking(1, 1))}, {});
  EXPECT_TRUE(std::holds_alternative<PlacementRequest>(scheduler.next({})));
}

}  // namespace
}  // namespace evenkeel::scheduling
