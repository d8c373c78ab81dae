#include "controllers/topology_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"
#include "controllers/test_groups.h"

namespace evenkeel::controllers {
namespace {

using Names = std::vector<std::string>;

Names selectors(const TopologyOrder& order) {
  Names names;
  for (const WorkloadReference& one : order.workloads) names.push_back(one.selector);
  return names;
}

// What the outer loop of upstream's Tarjan must have visited for the paper's rows to come out.
const Names kPapersVisits = {"P3", "P6", "P10", "P9", "P8", "P1"};

TEST(TopologyOrder, ReproducesTheSixRowsOfThePapersTableFour) {
  const std::map<std::string, Names> rows = {
      {"KahnSort", {"P1", "P10", "P9", "P8", "P7", "P6", "P5", "P4", "P3", "P2", "P11"}},
      {"AlternateKahn", {"P1", "P11", "P10", "P2", "P9", "P3", "P8", "P4", "P7", "P5", "P6"}},
      {"ReverseKahn", {"P11", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P1"}},
      {"TarjanSort", {"P1", "P8", "P7", "P5", "P4", "P2", "P11", "P9", "P10", "P6", "P3"}},
      {"AlternateTarjan", {"P1", "P3", "P8", "P6", "P7", "P10", "P5", "P9", "P4", "P11", "P2"}},
      {"ReverseTarjan", {"P3", "P6", "P10", "P9", "P11", "P2", "P4", "P5", "P7", "P8", "P1"}}};
  for (const auto& [algorithm, expected] : rows) {
    const TopologyOrder order = sort_topology(online_boutique(algorithm), kPapersVisits);
    EXPECT_EQ(selectors(order), expected) << algorithm;
    EXPECT_EQ(order.algorithm, algorithm);
    EXPECT_TRUE(order.is_known_algorithm && order.cycle.empty());
  }
}

TEST(TopologyOrder, GoesByTheSpecWhereThePaperLeavesItToAHashMap) {
  EXPECT_EQ(selectors(sort_topology(online_boutique("TarjanSort"))),
            (Names{"P1", "P10", "P9", "P8", "P7", "P5", "P6", "P4", "P3", "P2", "P11"}));
}

TEST(TopologyOrder, IsByTheSelectorThatPodsCarryNotByTheNameOfTheWorkload) {
  AppGroup group = make_group("ReverseKahn", {{"web", {"db"}}, {"db", {}}});
  for (AppWorkload& one : group.workloads) one.workload.name = "z-" + one.workload.selector + "-deployment";
  EXPECT_EQ(selectors(sort_topology(group)), (Names{"db", "web"}));
}

TEST(TopologyOrder, TakesAnUnknownWordForKahnSortAndSaysSo) {
  const TopologyOrder order = sort_topology(make_group("Bogo", {{"a", {}}, {"b", {"a"}}}));
  EXPECT_FALSE(order.is_known_algorithm);
  EXPECT_EQ(order.algorithm, "KahnSort");
  EXPECT_EQ(selectors(order), (Names{"b", "a"}));
}

TEST(TopologyOrder, FoldsWorkloadsThatNameEachOtherIntoTheDirectionOfTheSpec) {
  const TopologyOrder order = sort_topology(
      make_group("KahnSort", {{"cart", {"redis", "web", "cart"}}, {"web", {"cart"}}, {"redis", {}}}));
  EXPECT_TRUE(order.cycle.empty());
  EXPECT_EQ(selectors(order), (Names{"cart", "web", "redis"}));
}

TEST(TopologyOrder, FoldsThemSoThatNoCircleComesOfIt) {
  const TopologyOrder order = sort_topology(make_group(
      "KahnSort",
      {{"front", {"catalog"}}, {"catalog", {"front", "advice"}}, {"advice", {"front", "catalog"}}}));
  EXPECT_TRUE(order.cycle.empty());
  EXPECT_EQ(selectors(order), (Names{"catalog", "advice", "front"}));
}

TEST(TopologyOrder, KeepsWorkloadsThatNobodyTalksToAndThoseOnlySpokenOf) {
  EXPECT_EQ(
      selectors(sort_topology(make_group("KahnSort", {{"alone", {}}, {"a", {"elsewhere"}}, {"last", {}}}))),
      (Names{"alone", "a", "elsewhere", "last"}));
}

TEST(TopologyOrder, NamesACycleAndFallsBackToTheSpec) {
  const TopologyOrder order =
      sort_topology(make_group("AlternateKahn", {{"d", {"a"}}, {"a", {"b"}}, {"b", {"c"}}, {"c", {"a"}}}));
  EXPECT_EQ(order.cycle, (Names{"a", "b", "c"}));
  EXPECT_EQ(selectors(order), (Names{"d", "a", "b", "c"}));
}

TEST(TopologyOrder, PutsEveryDependentBeforeItsDependenciesInAThousandRandomGroups) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Random random(seed);
    std::vector<std::pair<std::string, Names>> spec;
    const std::uint64_t count = 1 + random.below(20);
    for (std::uint64_t i = 0; i < count; ++i) {
      Names next;
      for (std::uint64_t j = i + 1; j < count; ++j)
        if (random.chance(0.2)) next.push_back("w" + std::to_string(j));
      spec.emplace_back("w" + std::to_string(i), next);
    }
    random.shuffle(spec);
    for (const bool is_tarjan : {false, true}) {
      const AppGroup group = make_group(is_tarjan ? "TarjanSort" : "KahnSort", spec);
      const Names order = selectors(sort_topology(group));
      ASSERT_EQ(order.size(), count) << seed;
      const auto at = [&](const std::string& name) { return std::ranges::find(order, name); };
      for (const AppWorkload& one : group.workloads)
        for (const AppDependency& to : one.dependencies)
          ASSERT_LT(at(one.workload.selector), at(to.workload.selector)) << seed;
      AppGroup backwards = group;
      backwards.sorting_algorithm = is_tarjan ? "ReverseTarjan" : "ReverseKahn";
      ASSERT_EQ(selectors(sort_topology(backwards)), Names(order.rbegin(), order.rend())) << seed;
    }
  }
}

TEST(TopologyOrder, WalksAChainOfAHundredThousandWithoutRunningOutOfStack) {
  std::vector<std::pair<std::string, Names>> spec;
  for (int i = 0; i < 100'000; ++i)
    spec.emplace_back("w" + std::to_string(i), Names{"w" + std::to_string(i + 1)});
  spec.back().second = {"w0"};
  EXPECT_EQ(sort_topology(make_group("TarjanSort", spec)).cycle.size(), 100'000U);
}

}  // namespace
}  // namespace evenkeel::controllers
