#include "control/control_loop.h"

#include <gtest/gtest.h>

#include "cluster/test_objects.h"
#include "scheduling/policies/registry.h"
#include "simulator/simulated_world.h"

namespace evenkeel::control {
namespace {

using namespace std::chrono_literals;

// One core, and two tasks of a minute that arrive together.
simulator::WorldPlan small_world() {
  simulator::WorldPlan plan;
  plan.nodes.push_back({test_node(0, 1000), {}, {}});
  plan.workloads = {"task"};
  for (const char* name : {"a", "b"}) {
    auto behaviour = std::make_shared<simulator::Behaviour>();
    behaviour->phases = {{60, Usage{{1, 0, 0, 0, 0, 0}}}};
    plan.pods.push_back({Time{} + 10s, name, shape_asking(0, 0), behaviour, {}});
  }
  return plan;
}

struct Session {
  explicit Session(std::string_view policy)
      : setup(*scheduling::set_up_policy(policy, {})),
        world(plan, Random(1), false),
        scheduler(setup.options),
        loop(world, scheduler, *setup.policy, Random(1)) {}

  simulator::WorldPlan plan = small_world();
  scheduling::PolicySetup setup;
  simulator::SimulatedWorld world;
  scheduling::Scheduler scheduler;
  ControlLoop loop;
};

TEST(ControlLoop, CarriesEveryDecisionToTheWorldAndShowsItOnTheWay) {
  Session run("kube-default");
  std::vector<std::string> asked;
  std::size_t bound = 0;
  run.loop.watch_decisions([&](const scheduling::PlacementRequest& request, std::optional<NodeId> chosen) {
    EXPECT_EQ(chosen, NodeId{0});
    EXPECT_EQ(request.cluster.pod(request.pod.id)->place, PodPlace::pending);  // while the question is open
    asked.push_back(request.pod.name);
  });
  run.loop.watch_actions([&](const Action& action, Time at) {
    EXPECT_EQ(at, Time{} + 10s);
    bound += std::holds_alternative<BindPod>(action);
  });
  run.loop.run();
  EXPECT_EQ(asked, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(bound, 2U);
  EXPECT_EQ(run.world.counts().finished, 2U);
  EXPECT_FALSE(run.loop.turn());
}

TEST(ControlLoop, LetsAPolicyHoldAPodBack) {
  Session run("shortest-first");
  std::size_t held = 0;
  run.loop.watch_decisions([&](const auto&, std::optional<NodeId> chosen) { held += !chosen; });
  run.loop.run();
  EXPECT_GT(held, 0U);
  EXPECT_EQ(run.world.counts().finished, 2U);
}

TEST(ControlLoop, StopsWhenAskedToAndGoesOn) {
  Session run("kube-default");
  EXPECT_TRUE(run.loop.run_until(Time{} + 5s));
  EXPECT_GE(run.world.now(), Time{} + 5s);
  EXPECT_LT(run.world.now(), Time{} + 10s);
  EXPECT_EQ(run.world.counts().placed, 0U);
  EXPECT_TRUE(run.loop.run_until(Time{} + 20s));
  EXPECT_EQ(run.world.counts().placed, 2U);
  EXPECT_FALSE(run.loop.run_until(Time{} + 10h));
  EXPECT_EQ(run.world.counts().finished, 2U);
}

// Always the same node; says how often it was asked.
class Pointing final : public scheduling::PlacementPolicy {
 public:
  explicit Pointing(NodeId node) : node_(node) {}
  std::optional<NodeId> choose(const scheduling::PlacementRequest&, Random&) override {
    ++asked;
    return node_;
  }
  scheduling::ScoreSheet explain(const scheduling::PlacementRequest&) override { return {}; }
  int asked = 0;

 private:
  NodeId node_;
};

TEST(ControlLoop, AsksThePolicyOfThePodsProfile) {
  simulator::WorldPlan plan;
  for (std::uint32_t slot = 0; slot < 2; ++slot) plan.nodes.push_back({test_node(slot), {}, {}});
  plan.workloads = {"task"};
  for (const char* scheduler : {"left", "right", "left"}) {
    auto behaviour = std::make_shared<simulator::Behaviour>();
    behaviour->phases = {{60, Usage{}}};
    PodSpec spec = spec_asking(10, 0);
    spec.scheduler_name = scheduler;
    plan.pods.push_back({Time{} + 10s, scheduler, test_shape(spec), behaviour, {}});
  }
  simulator::SimulatedWorld world(plan, Random(1), false);
  scheduling::Scheduler scheduler({{"left", {}}, {"right", {}}});
  Pointing left({0}), right({1});
  scheduling::PlacementPolicy* const policies[] = {&left, &right};
  ControlLoop loop(world, scheduler, policies, Random(1));
  loop.run();
  EXPECT_EQ(left.asked, 2);
  EXPECT_EQ(right.asked, 1);
  EXPECT_EQ(world.counts().finished, 3U);
}

}  // namespace
}  // namespace evenkeel::control
