#include "monitor/probe_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace evenkeel::monitor {
namespace {

using namespace std::chrono_literals;
using Pair = std::pair<std::string, std::string>;

std::vector<ProbeMember> members_of(int count, int zones = 1) {
  std::vector<ProbeMember> members;
  for (int i = 0; i < count; ++i)
    members.push_back(
        {"n" + std::to_string(i), "r" + std::to_string(i % zones / 2), "z" + std::to_string(i % zones)});
  return members;
}

std::multiset<Pair> pairs_in(const std::vector<ProbeTask>& tasks) {
  std::multiset<Pair> pairs;
  for (const ProbeTask& task : tasks) pairs.emplace(task.origin, task.destination);
  return pairs;
}

// Slots are as the plan makes them; two tests that share a node must not share one.
void expect_no_node_is_asked_twice(const std::vector<ProbeTask>& tasks, Duration slot) {
  std::map<std::int64_t, std::set<std::string>> busy;
  for (const ProbeTask& task : tasks) {
    auto& nodes = busy[task.start / slot];
    EXPECT_TRUE(nodes.insert(task.origin).second) << task.origin << " at " << task.start.count();
    EXPECT_TRUE(nodes.insert(task.destination).second) << task.destination << " at " << task.start.count();
  }
}

TEST(ProbePlan, BasicHasOneTestForEachNode) {
  for (const int count : {2, 3, 4, 7, 16}) {
    const ProbeSettings settings{.mode = ProbeMode::basic, .period = 60s};
    for (std::int64_t epoch = -3; epoch < 20; ++epoch) {
      const auto tasks = plan_probes(members_of(count), settings, epoch);
      EXPECT_EQ(tasks.size(), static_cast<std::size_t>(count));
      std::set<std::string> origins, destinations;
      for (const ProbeTask& task : tasks) {
        EXPECT_NE(task.origin, task.destination);
        origins.insert(task.origin);
        destinations.insert(task.destination);
      }
      EXPECT_EQ(origins.size(), tasks.size());
      EXPECT_EQ(destinations.size(), tasks.size());
      expect_no_node_is_asked_twice(tasks, 20s);
    }
  }
}

TEST(ProbePlan, BasicSeesEveryPairOnceInAsManyPeriodsAsThereArePeers) {
  const ProbeSettings settings{.mode = ProbeMode::basic, .period = 60s};
  std::multiset<Pair> seen;
  for (std::int64_t epoch = 100; epoch < 108; ++epoch)
    seen.merge(pairs_in(plan_probes(members_of(9), settings, epoch)));
  EXPECT_EQ(seen.size(), 72U);
  EXPECT_EQ(std::set<Pair>(seen.begin(), seen.end()).size(), 72U);
}

TEST(ProbePlan, FullHasEveryOrderedPairOnceAndNoNodeTwiceAtATime) {
  for (const int count : {2, 3, 5, 8, 15, 16}) {
    const ProbeSettings settings{.mode = ProbeMode::full, .period = 300s};
    const auto tasks = plan_probes(members_of(count), settings, 7);
    const auto pairs = pairs_in(tasks);
    EXPECT_EQ(pairs.size(), static_cast<std::size_t>(count) * static_cast<std::size_t>(count - 1));
    EXPECT_EQ(std::set<Pair>(pairs.begin(), pairs.end()).size(), pairs.size());
    expect_no_node_is_asked_twice(tasks, settings.period / (3 * (count - 1)));
  }
}

TEST(ProbePlan, ZonesHasOnePairOfNodesForEachOrderedPairOfZones) {
  const auto members = members_of(23, 5);
  const ProbeSettings settings{.mode = ProbeMode::zones, .period = 300s};
  const auto tasks = plan_probes(members, settings, 11);
  std::map<std::string, std::string> zone;
  for (const ProbeMember& member : members) zone[member.node] = member.region + "/" + member.zone;
  std::set<Pair> seen;
  for (const ProbeTask& task : tasks) {
    EXPECT_NE(zone.at(task.origin), zone.at(task.destination));
    EXPECT_TRUE(seen.emplace(zone.at(task.origin), zone.at(task.destination)).second);
  }
  EXPECT_EQ(seen.size(), 20U);
  expect_no_node_is_asked_twice(tasks, settings.period / 12);
  EXPECT_EQ(pairs_in(plan_probes(members, settings, 12)), pairs_in(tasks)) << "the same speak each period";
}

TEST(ProbePlan, ANodeThatLeavesChangesOnlyThePairsItSpokeIn) {
  auto members = members_of(20, 4);
  const ProbeSettings settings{.mode = ProbeMode::zones, .period = 300s};
  const auto before = pairs_in(plan_probes(members, settings, 3));
  std::erase_if(members, [](const ProbeMember& member) { return member.node == "n6"; });
  const auto after = pairs_in(plan_probes(members, settings, 3));
  EXPECT_EQ(after.size(), before.size());
  for (const Pair& pair : before) EXPECT_EQ(after.contains(pair), pair.first != "n6" && pair.second != "n6");
}

TEST(ProbePlan, IsTheSameForAllWhateverOrderTheyKnowEachOtherIn) {
  auto members = members_of(12, 3);
  for (const ProbeMode mode : {ProbeMode::basic, ProbeMode::full, ProbeMode::zones}) {
    const ProbeSettings settings{.mode = mode, .period = 90s, .bandwidth_every = 3};
    const auto tasks = plan_probes(members, settings, 42);
    std::ranges::reverse(members);
    EXPECT_EQ(plan_probes(members, settings, 42), tasks);
  }
}

TEST(ProbePlan, StaysWithinThePeriodAndIsSpread) {
  for (const ProbeMode mode : {ProbeMode::basic, ProbeMode::full, ProbeMode::zones}) {
    const ProbeSettings settings{.mode = mode, .period = 60s};
    const auto tasks = plan_probes(members_of(16, 4), settings, 9);
    ASSERT_FALSE(tasks.empty());
    EXPECT_GE(tasks.front().start, 0s);
    EXPECT_LT(tasks.back().start, 60s);
    EXPECT_GT(tasks.back().start - tasks.front().start, 15s);
    EXPECT_TRUE(std::ranges::is_sorted(tasks, {}, &ProbeTask::start));
  }
}

TEST(ProbePlan, MeasuresBandwidthEachSoManiethTimeOfAPair) {
  const ProbeSettings settings{.mode = ProbeMode::basic, .period = 60s, .bandwidth_every = 3};
  std::map<Pair, int> tests, with;
  for (std::int64_t epoch = 0; epoch < 4 * 9; ++epoch)
    for (const ProbeTask& task : plan_probes(members_of(5), settings, epoch)) {
      ++tests[{task.origin, task.destination}];
      with[{task.origin, task.destination}] += task.with_bandwidth ? 1 : 0;
    }
  EXPECT_EQ(with.size(), 20U);
  for (const auto& [pair, count] : with) EXPECT_EQ(count * 3, tests.at(pair));
}

TEST(ProbePlan, HasNothingToDoAlone) {
  for (const ProbeMode mode : {ProbeMode::basic, ProbeMode::full, ProbeMode::zones}) {
    EXPECT_TRUE(plan_probes(members_of(1), {.mode = mode}, 0).empty());
    EXPECT_TRUE(plan_probes({}, {.mode = mode}, 0).empty());
  }
  EXPECT_TRUE(plan_probes(members_of(9), {.mode = ProbeMode::zones}, 0).empty()) << "one zone";
}

TEST(ProbePlan, CountsPeriodsThroughTheBeginningOfTime) {
  EXPECT_EQ(epoch_at(Time(0s), 60s), 0);
  EXPECT_EQ(epoch_at(Time(59s), 60s), 0);
  EXPECT_EQ(epoch_at(Time(-1s), 60s), -1);
  EXPECT_EQ(beginning_of(epoch_at(Time(130s), 60s), 60s), Time(120s));
}

TEST(ProbePlan, CountsThePairsAConfigMapHasToHold) {
  EXPECT_EQ(pairs_of(members_of(16, 4), ProbeMode::full), 240U);
  EXPECT_EQ(pairs_of(members_of(16, 4), ProbeMode::zones), 12U);
  EXPECT_EQ(pairs_of(members_of(1), ProbeMode::full), 0U);
}

}  // namespace
}  // namespace evenkeel::monitor
