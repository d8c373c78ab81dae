#include "simulator/simulated_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "base/match.h"
#include "cluster/test_objects.h"

namespace evenkeel::simulator {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

constexpr double kGi = 1LL << 30;

// A world of nodes with 4 cores and 8 GiB, without metrics.
WorldPlan empty_world(std::uint32_t nodes) {
  WorldPlan plan;
  for (std::uint32_t i = 0; i < nodes; ++i) plan.nodes.push_back({test_node(i), {}, {}});
  plan.metrics.every = {};
  plan.workloads = {"app"};
  return plan;
}

PodPlan& add_pod(WorldPlan& plan, double at_s, double seconds, const Usage& demand,
                 Behaviour::Kind kind = Behaviour::Kind::fixed_work) {
  auto behaviour = std::make_shared<Behaviour>();
  behaviour->kind = kind;
  behaviour->phases = {{seconds, demand}};
  const std::string name(1, static_cast<char>('a' + plan.pods.size()));
  plan.pods.push_back({Time{} + from_seconds(at_s), name, shape_asking(0, 0), behaviour, {}});
  return plan.pods.back();
}

constexpr Usage cores(double count, double memory = 0) { return Usage{{count, memory, 0, 0, 0, 0}}; }

std::string seconds(Time at) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", to_seconds(at.time_since_epoch()));
  return text;
}

// Runs a world, sends every pod where `place` says (nowhere: not at all), and writes down what happens.
class Story {
 public:
  using Place = std::function<std::optional<NodeId>(const Pod&)>;
  explicit Story(
      const WorldPlan& plan, Place place = [](const Pod&) { return NodeId{0}; }, std::uint64_t seed = 1)
      : world(plan, Random(seed), true), place_(std::move(place)) {}

  // Until the world ends, or the test loses its patience.
  bool run(Time until = Time{} + 24h, const std::function<void()>& each_turn = [] {}) {
    while (world.now() < until) {
      const auto events = world.wait_for_events(until);
      if (!events) return true;
      for (const ClusterEvent& event : *events) hear(event);
      each_turn();
    }
    return false;
  }
  void hear(const ClusterEvent& event) {
    const std::string at = seconds(world.now()) + " ";
    std::visit(Match{
                   [&](const NodeAdded& e) { lines.push_back(at + e.node.name + " joins"); },
                   [&](const NodeRemoved& e) {
                     lines.push_back(at + "node-" + std::to_string(e.node.slot) + " lost");
                   },
                   [&](const PodAdded& e) {
                     names_[e.pod.id.slot % names_.size()] = e.pod.name;
                     lines.push_back(at + e.pod.name + " waits");
                     bind(e.pod);
                     last_[e.pod.name] = e.pod;
                   },
                   [&](const PodBound& e) { lines.push_back(at + name(e.pod) + " bound"); },
                   [&](const PodStarted& e) { lines.push_back(at + name(e.pod) + " starts"); },
                   [&](const PodGone& e) {
                     const char* how[] = {"completed", "failed", "evicted", "deleted"};
                     lines.push_back(at + name(e.pod) + " " + how[static_cast<int>(e.how)]);
                   },
                   [&](const BindFailed& e) {
                     lines.push_back(at + name(e.pod) + " not bound: " + e.why);
                     bind(last_[name(e.pod)]);
                   },
                   [&](const UsageReported& e) {
                     reports.push_back({world.now(), e, {e.pods.begin(), e.pods.end()}});
                   },
                   [&](const auto&) {},
               },
               event);
  }
  void bind(const Pod& pod) {
    if (const auto node = place_(pod)) world.execute(BindPod{pod.id, *node});
  }
  std::string name(PodId id) const { return names_[id.slot % names_.size()]; }
  double when(const std::string& what) const {  // the first line that ends so
    for (const std::string& line : lines)
      if (line.ends_with(" " + what)) return std::stod(line);
    ADD_FAILURE() << "never: " << what;
    return -1;
  }
  std::size_t times(const std::string& what) const {
    return static_cast<std::size_t>(std::count_if(
        lines.begin(), lines.end(), [&](const std::string& l) { return l.ends_with(" " + what); }));
  }

  struct Report {
    Time delivered;
    UsageReported usage;
    std::vector<PodUsage> pods;
  };
  SimulatedWorld world;
  Lines lines;
  std::vector<Report> reports;

 private:
  Place place_;
  std::array<std::string, 64> names_;
  std::map<std::string, Pod> last_;
};

TEST(SimulatedWorld, TakesAPodFromArrivalToItsEnd) {
  WorldPlan plan = empty_world(1);
  add_pod(plan, 5, 60, cores(1));
  Story story(plan);
  EXPECT_TRUE(story.run());
  EXPECT_EQ(story.lines, (Lines{"0.000 node-0 joins", "5.000 a waits", "5.000 a bound", "5.000 a starts",
                                "65.000 a completed"}));
  EXPECT_EQ(story.world.counts().finished, 1U);
  EXPECT_EQ(story.world.waiting() + story.world.running(), 0U);
}

TEST(SimulatedWorld, LetsFixedWorkTakeLongerUnderContention) {
  WorldPlan plan = empty_world(1);
  add_pod(plan, 0, 60, cores(4));
  add_pod(plan, 30, 60, cores(4));
  Story story(plan);
  EXPECT_TRUE(story.run());
  // Alone for 30 s, then at half speed: 60 s more. The second has then done 30 s, and is alone.
  EXPECT_NEAR(story.when("a completed"), 90, 1e-3);
  EXPECT_NEAR(story.when("b completed"), 120, 1e-3);
}

TEST(SimulatedWorld, LetsFixedDurationDeliverLessUnderContention) {
  WorldPlan plan = empty_world(1);
  for (int i = 0; i < 2; ++i) add_pod(plan, 0, 60, cores(4), Behaviour::Kind::fixed_duration);
  Story story(plan);
  EXPECT_TRUE(story.run());
  EXPECT_NEAR(story.when("a completed"), 60, 1e-3);
  EXPECT_NEAR(story.world.measures().summarise().unserved_cpu, 0.5, 1e-9);
}

TEST(SimulatedWorld, GoesThroughPhases) {
  WorldPlan plan = empty_world(1);
  auto behaviour = std::make_shared<Behaviour>();
  behaviour->phases = {{10, cores(1)}, {0, cores(9)}, {20, cores(3)}};
  add_pod(plan, 0, 1, cores(1)).behaviour = behaviour;
  Story story(plan);
  EXPECT_TRUE(story.run());
  EXPECT_NEAR(story.when("a completed"), 30, 1e-3);
  EXPECT_NEAR(story.world.measures().summarise().by_dimension[0], (10 * 1 + 20 * 3) / (30.0 * 4), 1e-6);
}

TEST(SimulatedWorld, KillsForMemoryAndStartsAgainWithTheWorkLost) {
  WorldPlan plan = empty_world(1);
  add_pod(plan, 0, 100, cores(1, 5 * kGi)).shape = shape_asking(0, 5LL << 30);
  add_pod(plan, 20, 50, cores(1, 4 * kGi));  // asked for nothing: it goes first
  Story story(plan);
  EXPECT_TRUE(story.run());
  EXPECT_NEAR(story.when("a completed"), 100, 1e-3);
  // Killed at 20; waits 10, 20, 40 s, killed each time (30, 50, 90 s), then 80 s: 170, and its 50 s anew.
  EXPECT_EQ(story.world.counts().oom_kills, 4U);
  EXPECT_NEAR(story.when("b completed"), 220, 1e-3);
}

TEST(SimulatedWorld, KillsWhoIsFurthestAboveItsRequest) {
  WorldPlan plan = empty_world(1);
  add_pod(plan, 0, 100, cores(0.1, 3 * kGi)).shape = shape_asking(100, 1LL << 30);  // two above
  add_pod(plan, 0, 100, cores(0.1, 4 * kGi)).shape = shape_asking(100, 3LL << 30);  // one above
  add_pod(plan, 10, 100, cores(0.1, 2 * kGi)).shape = shape_asking(100, 2LL << 30);
  Story story(plan);
  EXPECT_TRUE(story.run());
  EXPECT_GT(story.when("a completed"), 150);
  EXPECT_NEAR(story.when("b completed"), 100, 1e-3);
  EXPECT_NEAR(story.when("c completed"), 110, 1e-3);
}

TEST(SimulatedWorld, KillsNobodyWhereThereIsSwap) {
  WorldPlan plan = empty_world(1);
  plan.kubelet.swap = true;
  for (int i = 0; i < 3; ++i) add_pod(plan, 0, 10, cores(1, 6 * kGi));
  Story story(plan);
  EXPECT_TRUE(story.run());
  EXPECT_EQ(story.world.counts().oom_kills, 0U);
  EXPECT_NEAR(story.when("c completed"), 10, 1e-3);
}

TEST(SimulatedWorld, StartsAPodAfterADelayAndPullsAnImageOncePerNode) {
  WorldPlan plan = empty_world(2);
  plan.kubelet.start_delay = 2s;
  plan.kubelet.pull_bytes_per_s = 1e6;
  for (int i = 0; i < 3; ++i) add_pod(plan, 100 * i, 10, cores(1)).image_size = {5'000'000};
  Story story(plan, [](const Pod& pod) { return NodeId{pod.name == "c" ? 1U : 0U}; });
  EXPECT_TRUE(story.run());
  EXPECT_NEAR(story.when("a starts"), 7, 1e-3);
  EXPECT_NEAR(story.when("b starts"), 102, 1e-3);
  EXPECT_NEAR(story.when("c starts"), 207, 1e-3);
  EXPECT_NEAR(story.when("a completed"), 17, 1e-3);
}

TEST(SimulatedWorld, RepeatsTheLostWorkOfAnEvictedPod) {
  WorldPlan plan = empty_world(2);
  add_pod(plan, 0, 60, cores(1));
  int comings = 0;
  Story story(plan, [&](const Pod&) { return NodeId{static_cast<std::uint32_t>(comings++)}; });
  story.run(Time{} + 40s);
  story.world.execute(EvictPod{{0, 1}, NodeId{1}, "test"});
  EXPECT_TRUE(story.run());
  EXPECT_NEAR(story.when("a completed"), 100, 1e-3);
  EXPECT_EQ(story.times("a waits"), 2U);
  EXPECT_EQ(story.times("a evicted"), 1U);
  EXPECT_EQ(story.world.counts().moves, 1U);
  EXPECT_EQ(story.world.counts().finished, 1U);
}

TEST(SimulatedWorld, IgnoresActionsAboutPodsThatAreNoMore) {
  WorldPlan plan = empty_world(1);
  add_pod(plan, 0, 10, cores(1));
  add_pod(plan, 100, 10, cores(1));
  Story story(plan);
  story.run(Time{} + 50s);
  story.world.execute(EvictPod{{0, 1}, NodeId{0}, "late"});
  story.world.execute(BindPod{{0, 1}, {0}});
  EXPECT_TRUE(story.run());
  EXPECT_EQ(story.world.counts().moves, 0U);
  EXPECT_EQ(story.world.counts().finished, 2U);
}

TEST(SimulatedWorld, BringsTheFormerPodsOfACrashedNodeBack) {
  WorldPlan plan = empty_world(2);
  for (int i = 0; i < 3; ++i) add_pod(plan, 0, 60, cores(1));
  plan.faults = {{Time{} + 20s, {0}, NodeFault::Kind::crashes},
                 {Time{} + 40s, {0}, NodeFault::Kind::rejoins}};
  bool crashed = false;
  Story story(plan, [&](const Pod& pod) { return NodeId{pod.name == "c" || crashed ? 1U : 0U}; });
  story.run(Time{} + 20s - 1us);
  crashed = true;
  EXPECT_TRUE(story.run());
  EXPECT_EQ(story.times("node-0 lost"), 1U);
  EXPECT_EQ(story.times("node-0 joins"), 2U);
  EXPECT_EQ(story.times("a failed") + story.times("b failed"), 2U);
  EXPECT_NEAR(story.when("a completed"), 80, 1e-3);  // anew from 20 s on
  EXPECT_NEAR(story.when("c completed"), 60, 1e-3);
  EXPECT_EQ(story.world.counts().node_losses, 1U);
}

TEST(SimulatedWorld, FailsABindingToANodeThatWentAwayMeanwhile) {
  WorldPlan plan = empty_world(1);
  plan.binding.delay = 10s;
  add_pod(plan, 0, 5, cores(1));
  plan.faults = {{Time{} + 5s, {0}, NodeFault::Kind::leaves}, {Time{} + 15s, {0}, NodeFault::Kind::rejoins}};
  Story story(plan);
  EXPECT_TRUE(story.run());
  EXPECT_EQ(story.times("a not bound: node is gone"), 1U);
  EXPECT_NEAR(story.when("a completed"), 25, 1e-3);
}

TEST(SimulatedWorld, FailsBindingsAsOftenAsAskedAndLosesNobody) {
  WorldPlan plan = empty_world(1);
  plan.binding = {100ms, 50ms, 0.3};
  for (int i = 0; i < 200; ++i) add_pod(plan, i, 0.5, cores(1));
  Story story(plan);
  EXPECT_TRUE(story.run());
  EXPECT_EQ(story.world.counts().finished, 200U);
  EXPECT_NEAR(static_cast<double>(story.world.counts().bind_failures), 200 * 0.3 / 0.7, 30);
}

TEST(SimulatedWorld, AddsNodesWhenTheyJoin) {
  WorldPlan plan = empty_world(2);
  plan.nodes[1].joins = Time{} + 30s;
  add_pod(plan, 0, 60, cores(1));
  Story story(plan);
  EXPECT_TRUE(story.run());
  EXPECT_NEAR(story.when("node-1 joins"), 30, 1e-9);
}

// --- metrics ----------------------------------------------------------------------------------

WorldPlan measured_world() {
  WorldPlan plan = empty_world(2);
  plan.metrics.every = 10s;
  plan.nodes[0].base = cores(1, kGi);
  add_pod(plan, 1, 1000, cores(6));  // three cores are left: half speed
  return plan;
}

TEST(SimulatedWorld, ReportsWhatNodesAndPodsReallyUse) {
  const WorldPlan plan = measured_world();
  Story story(plan);
  story.run(Time{} + 35s);
  ASSERT_EQ(story.reports.size(), 8U);  // two nodes at 0, 10, 20 and 30 s
  const auto& last = story.reports[6];
  EXPECT_EQ(last.usage.measured, Time{} + 30s);
  EXPECT_EQ(last.delivered, Time{} + 30s);
  EXPECT_DOUBLE_EQ(last.usage.total[Dimension::cpu], 4);
  ASSERT_EQ(last.pods.size(), 1U);
  EXPECT_DOUBLE_EQ(last.pods.front().usage[Dimension::cpu], 3);
}

TEST(SimulatedWorld, DelaysReports) {
  WorldPlan plan = measured_world();
  plan.metrics.delay = 25s;  // three under way at once
  Story story(plan);
  story.run(Time{} + 100s);
  ASSERT_GE(story.reports.size(), 10U);
  for (const auto& report : story.reports) EXPECT_EQ(report.delivered - report.usage.measured, 25s);
  EXPECT_EQ(story.reports[4].pods.size(), 1U);
  EXPECT_DOUBLE_EQ(story.reports[4].pods.front().usage[Dimension::cpu], 3);
}

TEST(SimulatedWorld, LosesReports) {
  WorldPlan plan = measured_world();
  plan.metrics.every = 1s;
  plan.metrics.missing = 0.25;
  Story story(plan);
  story.run(Time{} + 1000s);
  EXPECT_NEAR(static_cast<double>(story.reports.size()), 1500, 80);
  plan.metrics.missing = 1;
  Story deaf(plan);
  deaf.run(Time{} + 100s);
  EXPECT_TRUE(deaf.reports.empty());
}

TEST(SimulatedWorld, ReportsWithNoiseAndWithoutBias) {
  WorldPlan plan = measured_world();
  plan.metrics.every = 1s;
  plan.metrics.noise = 0.1;
  Story story(plan);
  story.run(Time{} + 1000s);
  double sum = 0, squares = 0, n = 0;
  for (const auto& report : story.reports)
    for (const PodUsage& pod : report.pods) {
      sum += pod.usage[Dimension::cpu];
      squares += std::pow(pod.usage[Dimension::cpu] - 3, 2);
      ++n;
    }
  EXPECT_NEAR(sum / n, 3, 0.05);
  EXPECT_NEAR(std::sqrt(squares / n), 0.3, 0.03);
}

// --- the end ----------------------------------------------------------------------------------

TEST(SimulatedWorld, GoesOnAroundAPodThatCannotBePlacedAndReportsIt) {
  WorldPlan plan = empty_world(1);
  plan.metrics.every = 10s;
  for (int i = 0; i < 3; ++i) add_pod(plan, 10 * i, 10, cores(1));
  Story story(plan, [](const Pod& pod) { return pod.name == "b" ? std::nullopt : std::optional(NodeId{0}); });
  EXPECT_TRUE(story.run());
  EXPECT_EQ(story.world.counts().finished, 2U);
  EXPECT_EQ(story.world.waiting(), 1U);
  EXPECT_LT(story.world.now(), Time{} + 1h);  // nobody waits for ever for it
}

TEST(SimulatedWorld, EndsInGoodTimeEvenWhereNothingElseHappens) {
  WorldPlan plan = empty_world(1);  // no metrics, nobody who would wake
  add_pod(plan, 0, 10, cores(1));
  SimulatedWorld world(plan, Random(1), false);
  int turns = 0;
  while (world.wait_for_events(Time::max()) && turns < 1000) ++turns;
  EXPECT_LT(turns, 1000);
  EXPECT_LT(world.now(), Time{} + 1h);
}

TEST(SimulatedWorld, EndsWhenItIsToldTo) {
  WorldPlan plan = empty_world(1);
  plan.end = Time{} + 30s;
  add_pod(plan, 0, 100, cores(1), Behaviour::Kind::endless);
  add_pod(plan, 50, 10, cores(1));
  Story story(plan);
  EXPECT_TRUE(story.run());
  EXPECT_EQ(story.world.now(), Time{} + 30s);
  EXPECT_EQ(story.world.running(), 1U);
  EXPECT_EQ(story.times("b waits"), 0U);
}

TEST(SimulatedWorld, EndsAlthoughANodeSaysNothingOfWhatAPodWants) {
  WorldPlan plan = empty_world(1);
  plan.metrics.every = 10s;
  plan.nodes[0].node.capacity[Dimension::receive] = 0;
  add_pod(plan, 0, 10, Usage{{1, 0, 1e6, 0, 0, 0}});
  Story story(plan);
  EXPECT_TRUE(story.run());
  EXPECT_EQ(story.world.counts().finished, 1U);
}

// Out of order until the simulator gives up on a pod that is killed again and again.
TEST(SimulatedWorld, EndsAlthoughAPodNeverFitsIntoMemory) {
  WorldPlan plan = empty_world(1);
  add_pod(plan, 0, 10, cores(1, 9 * kGi));
  add_pod(plan, 0, 10, cores(1, kGi));
  Story story(plan);
  EXPECT_TRUE(story.run());
  EXPECT_EQ(story.world.counts().finished, 1U);
}

TEST(SimulatedWorld, TellsTheSameStoryForTheSameSeed) {
  WorldPlan plan = empty_world(3);
  plan.metrics = {5s, 1s, 0.2, 0.1};
  plan.binding = {100ms, 300ms, 0.2};
  plan.faults = {{Time{} + 20s, {0}, NodeFault::Kind::crashes},
                 {Time{} + 40s, {0}, NodeFault::Kind::rejoins}};
  for (int i = 0; i < 20; ++i) add_pod(plan, i, 30, cores(1.5, kGi));
  const auto tell = [&](std::uint64_t seed) {
    Story story(
        plan, [](const Pod& pod) { return NodeId{1U + static_cast<std::uint32_t>(pod.name[0]) % 2}; }, seed);
    EXPECT_TRUE(story.run());
    return story.lines;
  };
  EXPECT_EQ(tell(3), tell(3));
  EXPECT_NE(tell(3), tell(4));
}

}  // namespace
}  // namespace evenkeel::simulator
