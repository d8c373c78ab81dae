#include "scheduling/policies/tasks.h"

#include <gtest/gtest.h>

#include "control/control_loop.h"
#include "scheduling/policies/registry.h"
#include "scheduling/test_questions.h"
#include "simulator/simulated_world.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;

constexpr WorkloadId kShort{1}, kLong{2}, kUnknown{3};

std::shared_ptr<const PodTemplate> task(WorkloadId workload) { return shape_asking(0, 0, workload); }
Pod task_of(WorkloadId workload) { return test_pod({1, 1}, task(workload)); }

NodeId choice(PlacementPolicy& policy, TestCluster& cluster, WorkloadId workload) {
  const Pod pod = task_of(workload);
  Random random(1);
  return *policy.choose(cluster.question(pod), random);
}

TEST(FewestTasks, CountsTasksPerFreeCore) {
  TestCluster cluster;
  cluster.state.set_node(test_node(0, 2000));
  cluster.state.set_node(test_node(1, 8000));
  for (int i = 0; i < 2; ++i) cluster.add_running({1}, task(kLong));
  FewestTasks policy(0);
  EXPECT_EQ(choice(policy, cluster, kShort), NodeId{1});  // 3/8 of a core each against 1/2
  Usage base;
  base[Dimension::cpu] = 6;
  cluster.state.set_base_load({1}, base, cluster.now);  // now two of its cores are left
  EXPECT_EQ(choice(policy, cluster, kShort), NodeId{0});
}

TEST(FewestTasks, KeepsPodsOfAKindApartWhereAskedTo) {
  TestCluster cluster(2);
  cluster.add_running({0}, task(kShort));
  for (int i = 0; i < 2; ++i) cluster.add_running({1}, task(kLong));
  FewestTasks all_alike(0), alike_count(3);
  EXPECT_EQ(choice(all_alike, cluster, kShort), NodeId{0});
  EXPECT_EQ(choice(alike_count, cluster, kShort), NodeId{1});
}

// --- shortest first ----------------------------------------------------------------------------

TestCluster two_cores() {
  TestCluster cluster;
  cluster.state.set_node(test_node(0, 2000));
  for (int i = 0; i < 20; ++i) {
    cluster.history.observe_end(task_of(kShort), 10s);
    cluster.history.observe_end(task_of(kLong), 300s);
  }
  return cluster;
}

bool takes(TestCluster& cluster, WorkloadId workload) {
  const Pod pod = task_of(workload);
  ShortestFirst policy;
  Random random(1);
  const bool taken = policy.choose(cluster.question(pod), random).has_value();
  EXPECT_EQ(policy.explain(cluster.question(pod)).rows.empty(), !taken);
  return taken;
}

TEST(ShortestFirst, GivesANodeNoMorePodsThanItHasFreeCores) {
  TestCluster cluster = two_cores();
  EXPECT_TRUE(takes(cluster, kLong));
  cluster.add_running({0}, task(kLong), {}, 20);
  EXPECT_TRUE(takes(cluster, kLong));
  cluster.add_running({0}, task(kLong), {}, 20);
  EXPECT_FALSE(takes(cluster, kLong));  // held back
}

TEST(ShortestFirst, LetsAShortOnePassThoseThatOutlastIt) {
  TestCluster cluster = two_cores();
  for (int i = 0; i < 2; ++i) cluster.add_running({0}, task(kLong), {}, 20);
  EXPECT_TRUE(takes(cluster, kShort));
  for (int i = 0; i < 2; ++i) cluster.add_running({0}, task(kShort), {}, 5);
  EXPECT_FALSE(takes(cluster, kShort));  // crowded: two cores, one spare
}

TEST(ShortestFirst, TriesOneOfAnUnknownKindAndThenBetsOnIdleCoresOnly) {
  TestCluster cluster = two_cores();
  for (int i = 0; i < 1; ++i) cluster.add_running({0}, task(kLong), {}, 20);
  EXPECT_TRUE(takes(cluster, kUnknown));  // the probe
  cluster.add_running({0}, task(kUnknown), {}, 5);
  EXPECT_FALSE(takes(cluster, kUnknown));
}

TEST(ShortestFirst, PutsOffASecondOfAnUnknownKindUntilTheQuickOnesHaveShown) {
  TestCluster alone(1), among_others(1);  // four cores
  for (TestCluster* cluster : {&alone, &among_others}) cluster->add_running({0}, task(kUnknown), {}, 2);
  among_others.add_running({0}, task(WorkloadId{4}), {}, 2);
  EXPECT_TRUE(takes(alone, kUnknown));
  EXPECT_FALSE(takes(among_others, kUnknown));
  among_others.now += 4s;
  EXPECT_TRUE(takes(among_others, kUnknown));
}

TEST(ShortestFirst, KeepsMemoryBelowACeilingExceptOnAnEmptyNode) {
  TestCluster cluster = two_cores();
  const Pod pod = task_of(kShort);
  Demand demand;
  demand.mean[Dimension::memory] = 7.5 * (1LL << 30);  // of eight
  ShortestFirst policy;
  Random random(1);
  EXPECT_TRUE(policy.choose(cluster.question(pod, demand), random));
  cluster.add_running({0}, task(kLong), {}, 20);
  EXPECT_FALSE(policy.choose(cluster.question(pod, demand), random));
}

Pod labelled(WorkloadId workload, Labels labels, Time created) {
  return {{1, 1},
          "labelled",
          std::make_shared<const PodTemplate>("default", std::move(labels), std::vector<OwnerReference>{},
                                              workload, task(workload)->spec),
          created,
          PodPhase::pending};
}

TEST(OptInOrder, HoldsBackThoseAloneThatAskForIt) {
  TestCluster cluster = two_cores();
  for (int i = 0; i < 2; ++i) cluster.add_running({0}, task(kLong), {}, 20);
  const Result<PolicySetup> setup = set_up_policy("kube-default+order", cluster.options);
  ASSERT_TRUE(setup);
  cluster.options = setup->options;
  Random random(1);
  Labels asks;
  asks.set("evenkeel.io/order", "shortest-first");
  const Pod one = labelled(kLong, asks, cluster.now), other = labelled(kLong, {}, cluster.now);
  EXPECT_FALSE(setup->policy->choose(cluster.question(one), random));
  EXPECT_TRUE(setup->policy->choose(cluster.question(other), random));
}

TEST(OptInOrder, HoldsNobodyBackForEver) {
  TestCluster cluster = two_cores();
  for (int i = 0; i < 2; ++i) cluster.add_running({0}, task(kLong), {}, 20);
  const Result<PolicySetup> setup = set_up_policy("kube-default+order", cluster.options);
  ASSERT_TRUE(setup);
  cluster.options = setup->options;
  Random random(1);
  Labels asks;
  asks.set("evenkeel.io/order", "shortest-first");
  const Pod waited = labelled(kLong, asks, cluster.now - cluster.options.longest_wait - 1s);
  EXPECT_TRUE(setup->policy->choose(cluster.question(waited), random));
}

TEST(RunEstimates, GrowWithTheTimeAnUnknownKindHasRun) {
  TestCluster cluster(1);
  const Pod pod = task_of(kUnknown);
  const auto of = [&] { return cluster.runs.of(pod, cluster.history, cluster.now); };
  EXPECT_TRUE(of().probe);
  cluster.runs.placed(pod, cluster.now);
  cluster.now += 30s;
  EXPECT_FALSE(of().probe);
  EXPECT_FALSE(of().known);
  EXPECT_DOUBLE_EQ(of().seconds, 60);
  cluster.runs.placed(pod, cluster.now);
  EXPECT_DOUBLE_EQ(of().seconds, 120);  // a second bet at longer odds
  cluster.runs.gone(pod);
  cluster.runs.gone(pod);
  cluster.runs.gone(pod);  // once too often
  EXPECT_TRUE(of().probe);
  cluster.history.observe_end(pod, 42s);
  EXPECT_TRUE(of().known);
  EXPECT_NEAR(of().seconds, 42, 1e-9);
}

// --- in a world ---------------------------------------------------------------------------------

simulator::WorldPlan one_core_world() {
  simulator::WorldPlan world;
  world.nodes.push_back({test_node(0, 1000), {}, {}});
  world.workloads = {"", "short", "long"};
  return world;
}

void arrive(simulator::WorldPlan& world, double at_s, WorkloadId workload, double seconds) {
  auto behaviour = std::make_shared<simulator::Behaviour>();
  behaviour->phases = {{seconds, Usage{{1, 1e6, 0, 0, 0, 0}}}};
  world.pods.push_back({Time{} + from_seconds(at_s),
                        world.workloads[workload.slot] + "-" + std::to_string(world.pods.size()),
                        task(workload),
                        behaviour,
                        {}});
}

std::vector<std::string> order_of_binding(const simulator::WorldPlan& world, SchedulingOptions options = {}) {
  PolicySetup setup = *set_up_policy("shortest-first", options);
  simulator::SimulatedWorld simulated(world, Random(1), false);
  Scheduler scheduler(setup.options);
  control::ControlLoop loop(simulated, scheduler, *setup.policy, Random(1));
  std::vector<std::string> names;
  loop.watch_actions([&](const Action& action, Time) {
    if (const auto* bind = std::get_if<BindPod>(&action)) names.push_back(simulated.plan_of(bind->pod)->name);
  });
  loop.run();
  return names;
}

TEST(ShortestFirst, ProbesEachKindThenGoesByWhatItLearnt) {
  simulator::WorldPlan world = one_core_world();
  for (int i = 0; i < 4; ++i) arrive(world, 0, kLong, 100);
  for (int i = 0; i < 4; ++i) arrive(world, 0, kShort, 10);
  const auto names = order_of_binding(world);
  ASSERT_EQ(names.size(), 8U);
  EXPECT_EQ(names[0], "long-0");   // first of its kind
  EXPECT_EQ(names[1], "short-4");  // likewise, before the second long one
  for (int i = 2; i < 5; ++i) EXPECT_EQ(names[static_cast<std::size_t>(i)].substr(0, 5), "short") << i;
  for (int i = 5; i < 8; ++i) EXPECT_EQ(names[static_cast<std::size_t>(i)].substr(0, 4), "long") << i;
}

TEST(ShortestFirst, StarvesNobody) {
  simulator::WorldPlan world = one_core_world();
  arrive(world, 0, kLong, 100);  // teaches
  arrive(world, 0, kShort, 10);
  arrive(world, 1, kLong, 100);  // and would wait for ever behind those that keep coming
  for (int i = 0; i < 400; ++i) arrive(world, 2 + 9.5 * i, kShort, 10);
  std::stable_sort(world.pods.begin(), world.pods.end(),
                   [](const auto& a, const auto& b) { return a.arrival < b.arrival; });
  SchedulingOptions options;
  options.longest_wait = 10min;
  const auto patient = order_of_binding(world);
  const auto bounded = order_of_binding(world, options);
  const auto place = [](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), "long-2") - names.begin();
  };
  EXPECT_LT(place(bounded), 75);  // 600 s of tasks of ten seconds, and what was there before
  EXPECT_GT(place(patient), 150);
}

}  // namespace
}  // namespace evenkeel::scheduling
