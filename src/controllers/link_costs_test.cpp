#include "controllers/link_costs.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace evenkeel::controllers {
namespace {

LinkId zone(const std::string& from, const std::string& to) { return {LinkId::Level::zone, from, to}; }
LinkId region(const std::string& from, const std::string& to) { return {LinkId::Level::region, from, to}; }

const Places kNodes = {{"a1", {"west", "a"}}, {"a2", {"west", "a"}}, {"b1", {"west", "b"}},
                       {"c1", {"west", "c"}}, {"d1", {"east", "d"}}, {"f1", {"north", "f"}}};

TEST(LinkCosts, IsTheMedianOfTheNodePairsInEachDirection) {
  const LinkCosts made =
      link_costs(std::vector<Measurement>{{"a1", "b1", 4}, {"a2", "b1", 7}, {"b1", "a1", 9}}, kNodes);
  EXPECT_EQ(made.costs.at(zone("a", "b")), 6);  // 5.5 in whole numbers
  EXPECT_EQ(made.costs.at(zone("b", "a")), 9);
  EXPECT_EQ(made.measured, 2U);
}

TEST(LinkCosts, TakesTheRoundTripOfTheOtherDirectionThenTheShortestWayAndNeverMakesOneUp) {
  const LinkCosts made =
      link_costs(std::vector<Measurement>{{"a1", "b1", 4}, {"c1", "b1", 3.2}, {"a1", "d1", 40}}, kNodes);
  EXPECT_EQ(made.costs.at(zone("b", "a")), 4);
  EXPECT_EQ(made.costs.at(zone("a", "c")), 7);
  EXPECT_EQ(made.costs.at(region("east", "west")), 40);
  EXPECT_EQ(made.by_way_of_others, 2U);
  EXPECT_FALSE(made.costs.contains(region("west", "north")));
  EXPECT_EQ(made.unknown.size(), 4U);
}

TEST(LinkCosts, IsNeverBelowOne) {
  const LinkCosts made = link_costs(std::vector<Measurement>{{"a1", "b1", 0.2}, {"b1", "c1", 0}}, kNodes);
  EXPECT_EQ(made.costs.at(zone("a", "b")), 1);
  EXPECT_EQ(made.costs.at(zone("b", "c")), 1);
}

TEST(LinkCosts, NamesZonesThatSeveralRegionsHave) {
  const Places nodes = {{"x", {"west", "z1"}}, {"y", {"east", "z1"}}, {"v", {"east", "z2"}}};
  EXPECT_EQ(link_costs({}, nodes).shared_zones, (std::vector<std::string>{"z1"}));
}

TEST(LinkCosts, LeavesAloneWhatNoObjectCouldHold) {
  Places nodes;
  for (int i = 0; i < 120; ++i) nodes["n" + std::to_string(i)] = {"r", "z" + std::to_string(i)};
  const LinkCosts made = link_costs({}, nodes);
  EXPECT_TRUE(made.is_too_big);
  EXPECT_TRUE(made.costs.empty());
}

TEST(LinkCosts, AccountsForEveryLinkInAThousandSeededClusters) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Random random(seed);
    Places nodes;
    for (std::uint64_t i = 1 + random.below(14); i > 0; --i)
      nodes["n" + std::to_string(i)] = {random.chance(0.1) ? "" : "r" + std::to_string(random.below(3)),
                                        random.chance(0.1) ? "" : "z" + std::to_string(random.below(5))};
    std::vector<Measurement> all;
    for (const auto& [from, place] : nodes)
      for (const auto& [to, other] : nodes)
        if (from != to && random.chance(0.2)) all.push_back({from, to, random.between(0, 50)});
    const LinkCosts made = link_costs(all, nodes);
    ASSERT_EQ(made.costs.size(), made.measured + made.by_way_of_others) << seed;
    for (const auto& [link, cost] : made.costs) {
      ASSERT_GE(cost, 1) << seed;
      ASSERT_NE(link.origin, link.destination) << seed;
      ASSERT_FALSE(link.origin.empty() || link.destination.empty()) << seed;
    }
    if (all.empty()) {
      ASSERT_TRUE(made.costs.empty()) << seed;
    }
    for (const LinkId& link : made.unknown)
      ASSERT_TRUE(!made.costs.contains(link) || !made.shared_zones.empty()) << seed;
  }
}

}  // namespace
}  // namespace evenkeel::controllers
