#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "simulator/test_worlds.h"

namespace evenkeel::simulator {
namespace {

std::string world(const std::string& arrivals, const std::string& mix = "blocks",
                  const std::string& more = "") {
  return R"(
nodes:
  list:
    - name: ash-%d
      count: 3
      capacity: {cpu: 4, memory: 8GiB}
    - name: oak
      capacity: {cpu: 2, memory: 4GiB}
      joins: 2m
)" + more +
         R"(
workload:
  mix: )" +
         mix + "\n  arrivals: " + arrivals + R"(
  apps:
    - name: a
      weight: 2
      phases: [{seconds: [5, 10], demand: {cpu: 1}}]
    - name: b
      noise: 0.5
      phases: [{seconds: 20, demand: {cpu: 1}}, {seconds: 10, demand: {cpu: 2}}]
)";
}

std::map<std::string, int> count_apps(const WorldPlan& plan, std::size_t from, std::size_t to) {
  std::map<std::string, int> counts;
  for (std::size_t i = from; i < to; ++i) ++counts[plan.workloads[plan.pods[i].shape->workload.slot]];
  return counts;
}

TEST(Expand, MakesTheSameWorldOfTheSameSeed) {
  const std::string faults = "faults: {crashes_per_hour: 30, leaves_per_hour: 30}\n";
  const std::string text = world("{pods: 50, pattern: poisson, every: 20s}", "random", faults);
  EXPECT_TRUE(same(world_of(text, 7), world_of(text, 7)));
  EXPECT_FALSE(same(world_of(text, 7), world_of(text, 8)));
  EXPECT_GT(world_of(text, 7).faults.size(), 4U);
}

TEST(Expand, DrawsEveryPartOfAWorldByItsSeed) {
  const std::string faults = "faults: {crashes_per_hour: 30}\n";
  const std::string text = world("{pods: 50, pattern: poisson, every: 20s}", "random", faults);
  const WorldPlan a = world_of(text, 7), b = world_of(text, 8);
  std::size_t arrivals = 0, apps = 0, seconds = 0;
  for (std::size_t i = 1; i < a.pods.size(); ++i) {
    arrivals += a.pods[i].arrival != b.pods[i].arrival;
    apps += a.pods[i].shape->workload != b.pods[i].shape->workload;
    seconds += a.pods[i].behaviour->ideal_seconds() != b.pods[i].behaviour->ideal_seconds();
  }
  EXPECT_EQ(arrivals, 49U);
  EXPECT_GT(apps, 10U);
  EXPECT_EQ(seconds, 49U);
  EXPECT_NE(a.faults.front().at, b.faults.front().at);
}

TEST(Expand, NumbersNodesAndLabelsThemByName) {
  const WorldPlan plan = world_of(world("{pods: 1, every: 1s}"), 1);
  ASSERT_EQ(plan.nodes.size(), 4U);
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(plan.nodes[i].node.id, NodeId{i});
  EXPECT_EQ(plan.nodes[0].node.name, "ash-1");
  EXPECT_EQ(plan.nodes[2].node.name, "ash-3");
  EXPECT_EQ(plan.nodes[3].node.name, "oak");
  EXPECT_EQ(*plan.nodes[3].node.labels.find("kubernetes.io/hostname"), "oak");
  EXPECT_EQ(to_seconds(plan.nodes[3].joins.time_since_epoch()), 120);
}

TEST(Expand, MixesAppsInBlocksByWeight) {
  const WorldPlan plan = world_of(world("{pods: 31, every: 1s}"), 3);
  for (std::size_t block = 0; block < 10; ++block)
    EXPECT_EQ(count_apps(plan, 3 * block, 3 * block + 3), (std::map<std::string, int>{{"a", 2}, {"b", 1}}));
  EXPECT_EQ(plan.pods.size(), 31U);
}

TEST(Expand, MixesAppsAtRandomByWeight) {
  const WorldPlan plan = world_of(world("{pods: 3000, every: 1s}", "random"), 3);
  EXPECT_NEAR(count_apps(plan, 0, 3000)["a"], 2000, 100);
  std::set<int> blocks;
  for (std::size_t i = 0; i + 3 <= 300; i += 3) blocks.insert(count_apps(plan, i, i + 3)["a"]);
  EXPECT_GT(blocks.size(), 2U);  // not in blocks
}

TEST(Expand, GivesEachAppItsShareExactlyAndShuffled) {
  const WorldPlan plan = world_of(world("{pods: 300, every: 1s}", "each"), 3);
  EXPECT_EQ(count_apps(plan, 0, 300), (std::map<std::string, int>{{"a", 200}, {"b", 100}}));
  EXPECT_NE(count_apps(plan, 0, 150), (std::map<std::string, int>{{"a", 100}, {"b", 50}}));
}

std::vector<double> arrivals(const std::string& text, std::uint64_t seed = 5) {
  std::vector<double> times;
  for (const PodPlan& pod : world_of(world(text), seed).pods)
    times.push_back(to_seconds(pod.arrival.time_since_epoch()));
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  return times;
}

TEST(Expand, LetsPodsArriveByThePatternAskedFor) {
  EXPECT_EQ(arrivals("{pods: 4, pattern: regular, every: 20s}"), (std::vector<double>{0, 20, 40, 60}));
  EXPECT_EQ(arrivals("{pods: 3, pattern: at-once}"), (std::vector<double>{0, 0, 0}));
  const auto within = arrivals("{pods: 500, pattern: within, within: 100s}");
  EXPECT_GE(within.front(), 0);
  EXPECT_LT(within.back(), 100);
  EXPECT_NEAR(within[250], 50, 8);
  const auto deviation_over_mean = [](const std::vector<double>& times) {
    const double n = static_cast<double>(times.size() - 1), mean = times.back() / n;
    double variance = 0;
    for (std::size_t i = 1; i < times.size(); ++i)
      variance += std::pow(times[i] - times[i - 1] - mean, 2) / n;
    return std::sqrt(variance) / mean;
  };
  const auto normal = arrivals("{pods: 2000, pattern: normal, every: 20s, deviation: 4s}");
  EXPECT_NEAR(normal.back() / 1999, 20, 0.5);
  EXPECT_NEAR(deviation_over_mean(normal), 0.2, 0.02);
  const auto poisson = arrivals("{pods: 2000, pattern: poisson, every: 20s}");
  EXPECT_NEAR(poisson.back() / 1999, 20, 1.5);
  EXPECT_NEAR(deviation_over_mean(poisson), 1, 0.1);
}

TEST(Expand, KeepsPodsThatAskForTheSameOnOneTemplate) {
  const WorldPlan plan = world_of(world("{pods: 30, every: 1s}"), 1);
  std::set<const PodTemplate*> shapes;
  for (const PodPlan& pod : plan.pods) shapes.insert(pod.shape.get());
  EXPECT_EQ(shapes.size(), 2U);
}

const std::string kOneNode = "nodes: {list: [{name: ash, capacity: {cpu: 4, memory: 8GiB}}]}\n";

WorldPlan of_app(const std::string& app) {
  return world_of(kOneNode +
                      "workload:\n  scale: 2\n  arrivals: {pods: 200, every: 1s}\n  apps:\n    - {name: x, " +
                      app + "}\n",
                  1);
}

TEST(Expand, LetsAPodThatIsAllowedLessWorkLonger) {
  for (const PodPlan& pod : of_app("reference_cpu: 500m, cpu_request: [250m, 500m], cpu_limit: [250m, 500m], "
                                   "phases: [{seconds: 60, demand: {cpu: 400m, memory: 1GiB, read: 1MB/s}}]")
                                .pods) {
    const double allowed = static_cast<double>(pod.shape->limit.cpu.count) / 1000;
    EXPECT_EQ(pod.shape->request.cpu, pod.shape->limit.cpu);  // one draw serves both
    const DemandPhase& phase = pod.behaviour->phases.front();
    EXPECT_NEAR(phase.seconds, 2 * 60 * 0.5 / allowed, 1e-9);
    EXPECT_NEAR(phase.demand[Dimension::cpu], 0.4 * allowed / 0.5, 1e-12);
    EXPECT_NEAR(phase.demand[Dimension::read], 1e6 * allowed / 0.5, 1e-6);
    EXPECT_EQ(phase.demand[Dimension::memory], static_cast<double>(1LL << 30));  // a slower pod is no smaller
  }
}

TEST(Expand, LetsAPodOfFixedDurationDeliverLessInstead) {
  for (const PodPlan& pod : of_app("kind: fixed-duration, reference_cpu: 500m, cpu_limit: 250m, "
                                   "phases: [{seconds: 60, demand: {cpu: 400m}}]")
                                .pods) {
    EXPECT_NEAR(pod.behaviour->phases.front().seconds, 120, 1e-9);
    EXPECT_NEAR(pod.behaviour->phases.front().demand[Dimension::cpu], 0.2, 1e-12);
  }
}

TEST(Expand, DrawsARequestFromItsOwnRangeBesideAFixedLimit) {
  for (const PodPlan& pod :
       of_app("cpu_request: [200m, 500m], cpu_limit: 1, phases: [{seconds: 1, demand: {cpu: 1}}]").pods) {
    EXPECT_EQ(pod.shape->limit.cpu.count, 1000);
    EXPECT_GE(pod.shape->request.cpu.count, 200);
    EXPECT_LE(pod.shape->request.cpu.count, 500);
  }
}

TEST(Expand, VariesRunTimesWithoutChangingTheirMean) {
  double sum = 0;
  std::set<double> seen;
  const WorldPlan plan = of_app("noise: 0.3, phases: [{seconds: 50, demand: {cpu: 1}}]");
  for (const PodPlan& pod : plan.pods) {
    sum += pod.behaviour->ideal_seconds() / 200;
    seen.insert(pod.behaviour->ideal_seconds());
  }
  EXPECT_NEAR(sum, 100, 7);
  EXPECT_EQ(seen.size(), 200U);
}

TEST(Expand, BringsEveryLostNodeBack) {
  const WorldPlan plan =
      world_of(world("{pods: 100, every: 30s}", "blocks",
                     "faults: {crashes_per_hour: 20, leaves_per_hour: 10, back_after: 3m}\n"),
               4);
  int lost = 0;
  for (std::size_t i = 0; i < plan.faults.size(); i += 2) {
    EXPECT_NE(plan.faults[i].kind, NodeFault::Kind::rejoins);
    EXPECT_EQ(plan.faults[i + 1].kind, NodeFault::Kind::rejoins);
    EXPECT_EQ(plan.faults[i + 1].node, plan.faults[i].node);
    EXPECT_EQ(to_seconds(plan.faults[i + 1].at - plan.faults[i].at), 180);
    ++lost;
  }
  EXPECT_NEAR(lost, 25, 15);
}

}  // namespace
}  // namespace evenkeel::simulator
