#include "training/references.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "control/control_loop.h"
#include "training/clairvoyant.h"

namespace evenkeel::training {
namespace {

using simulator::Behaviour;
using simulator::WorldPlan;

std::shared_ptr<const PodTemplate> asks_for(std::int64_t milli_cpu) {
  Container container;
  container.requests.cpu = {milli_cpu};
  PodSpec spec;
  spec.containers.push_back(container);
  return std::make_shared<PodTemplate>("default", Labels{}, std::vector<OwnerReference>{}, WorkloadId{0},
                                       spec);
}

// Three unequal nodes and pods that come, use this or that, and go.
WorldPlan small_world(std::uint64_t seed, std::size_t pods) {
  Random random(seed);
  WorldPlan world;
  world.name = "small";
  world.workloads = {"app"};
  world.measure_to_last_arrival = true;
  for (std::uint32_t i = 0; i < 3; ++i) {
    simulator::NodePlan& plan = world.nodes.emplace_back();
    plan.node.id = {i};
    plan.node.name = "node-" + std::to_string(i);
    const double cores = i == 0 ? 4 : 2;
    plan.node.capacity = Usage{{cores, 4e9, 1e8, 1e8, 1e8, 1e8}};
    plan.node.allocatable.cpu = {static_cast<std::int64_t>(cores * 1000)};
    plan.node.allocatable.memory = {4'000'000'000};
    plan.base = Usage{{0.1, 1e9, 0, 0, 0, 0}};
  }
  for (std::size_t i = 0; i < pods; ++i) {
    auto behaviour = std::make_shared<Behaviour>();
    const double size = random.between(0.2, 0.5);
    Usage demand{{size, 1e8, 0, 0, 0, 0}};
    demand.of[2 + i % 4] = size * 5e7;
    behaviour->phases = {{random.between(60, 240), demand}};
    world.pods.push_back({Time{} + from_seconds(20.0 * static_cast<double>(i)),
                          "pod-" + std::to_string(i),
                          asks_for(static_cast<std::int64_t>(size * 1000)),
                          behaviour,
                          {}});
  }
  return world;
}

simulator::Measures::Summary run(std::string_view policy, const WorldPlan& world,
                                 const scheduling::SchedulingOptions& options = {}) {
  PreparedPolicy prepared = prepare_policy(policy, options, world, 1);
  simulator::SimulatedWorld simulated(world, Random(1), false);
  scheduling::Scheduler scheduler(prepared.setup.options);
  prepared.attach(simulated, scheduler);
  control::ControlLoop loop(simulated, scheduler, *prepared.setup.policy, Random(1));
  loop.run();
  return simulated.measures().summarise();
}

TEST(Clairvoyant, BalancesBetterThanRulesThatDoNotSeeTheFuture) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const WorldPlan world = small_world(seed, 40);
    const double clairvoyant = run("clairvoyant", world).imbalance;
    EXPECT_LT(clairvoyant, run("greedy", world).imbalance) << seed;
    EXPECT_LT(clairvoyant, run("horizon-known", world).imbalance) << seed;
    EXPECT_LT(run("clairvoyant-means", world).imbalance_of_means, run("greedy", world).imbalance_of_means)
        << seed;
  }
}

TEST(Clairvoyant, AnswersTasksThatComeAtOnceSooner) {
  WorldPlan world = small_world(1, 24);
  for (simulator::PodPlan& pod : world.pods) {
    auto behaviour = std::make_shared<Behaviour>(*pod.behaviour);
    behaviour->phases[0].demand = Usage{{1, 5e7, 0, 0, 0, 0}};
    pod.behaviour = behaviour;
    pod.arrival = {};
    pod.shape = asks_for(0);
  }
  EXPECT_EQ(natural_objective(world), optimum::Objective::mean_response);
  const double clairvoyant = run("clairvoyant", world).response_mean_s;
  EXPECT_LT(clairvoyant, run("round-robin", world).response_mean_s);
  EXPECT_LE(clairvoyant, run("fewest-tasks", world).response_mean_s);
}

TEST(Clairvoyant, PlansNobodyOntoANodeThatWillCrash) {
  WorldPlan world = small_world(2, 12);
  world.faults = {{Time{} + std::chrono::seconds{1}, NodeId{1}, simulator::NodeFault::Kind::crashes},
                  {Time{} + std::chrono::seconds{1'000'000}, NodeId{1}, simulator::NodeFault::Kind::rejoins}};
  for (const auto& [pod, node] : clairvoyant_plan(world, {}, optimum::Objective::imbalance, 1))
    EXPECT_NE(node, NodeId{1}) << pod;
}

TEST(Clairvoyant, RespectsWhatPodsAskOfNodes) {
  WorldPlan world = small_world(3, 12);
  world.nodes[0].node.taints = {{"dedicated", "others", TaintEffect::no_schedule}};
  world.nodes[2].node.unschedulable = true;
  for (const auto& [pod, node] : clairvoyant_plan(world, {}, optimum::Objective::imbalance, 1))
    EXPECT_EQ(node, NodeId{1}) << pod;
}

TEST(References, AreKnownByNameWithSwitchesOrWithout) {
  for (const std::string_view name : reference_names()) {
    EXPECT_TRUE(is_reference(name)) << name;
    EXPECT_TRUE(check_policy(name, {})) << name;
    EXPECT_TRUE(check_policy(std::string(name) + "+by-use", {})) << name;
  }
  EXPECT_FALSE(is_reference("greedy"));
  EXPECT_FALSE(is_reference("horizon+moves"));
}

TEST(References, AreNamedWhereAPolicyIsNot) {
  const Status unknown = check_policy("clairvoiant", {});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("did you mean 'clairvoyant'?"), std::string::npos);
  EXPECT_NE(unknown.error().message.find("greedy"), std::string::npos);
  EXPECT_NE(unknown.error().message.find("horizon-known"), std::string::npos);
  const Status bad_switch = check_policy("clairvoyant+wings", {});
  ASSERT_FALSE(bad_switch);
  EXPECT_NE(bad_switch.error().message.find("'+wings'"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::training
