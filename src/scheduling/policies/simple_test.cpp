#include "scheduling/policies/simple.h"

#include <gtest/gtest.h>

#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

// Five nodes, of which the second and the last will not do.
TestCluster three_of_five() {
  TestCluster cluster(5);
  for (const std::uint32_t slot : {1U, 4U}) {
    Node node = test_node(slot);
    node.unschedulable = true;
    cluster.state.set_node(node);
  }
  return cluster;
}

TEST(RandomChoice, TakesEveryFeasibleNodeEquallyOften) {
  TestCluster cluster = three_of_five();
  const Pod pod = pod_with(spec_asking(1, 1));
  RandomChoice policy;
  Random random(1);
  std::array<int, 5> taken{};
  for (int i = 0; i < 3000; ++i) ++taken[policy.choose(cluster.question(pod), random)->slot];
  EXPECT_EQ(taken[1] + taken[4], 0);
  for (const std::size_t slot : {0U, 2U, 3U}) EXPECT_NEAR(taken[slot], 1000, 100);
  EXPECT_EQ(policy.explain(cluster.question(pod)).rows.size(), 3U);
}

TEST(RoundRobin, TakesFeasibleNodesInTurn) {
  TestCluster cluster = three_of_five();
  const Pod pod = pod_with(spec_asking(1, 1));
  RoundRobin policy;
  Random random(1);
  std::string order;
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(policy.explain(cluster.question(pod)).rows.front().node,
              policy.explain(cluster.question(pod)).rows.front().node);  // looking moves nothing
    const NodeId announced = policy.explain(cluster.question(pod)).rows.front().node;
    const NodeId chosen = *policy.choose(cluster.question(pod), random);
    EXPECT_EQ(chosen, announced);
    order += std::to_string(chosen.slot);
  }
  EXPECT_EQ(order, "0230230");
}

TEST(PlannedPlacement, FollowsItsPlanByThePodsName) {
  TestCluster cluster = three_of_five();
  Pod pod = pod_with(spec_asking(1, 1));
  Random random(1);
  PlannedPlacement policy({{"b", {2}}, {"a", {3}}, {"c", {1}}, {"d", {99}}});
  pod.name = "a";
  EXPECT_EQ(policy.choose(cluster.question(pod), random), NodeId{3});
  EXPECT_EQ(policy.explain(cluster.question(pod)).rows.front().node, NodeId{3});
  pod.name = "b";
  EXPECT_EQ(policy.choose(cluster.question(pod), random), NodeId{2});
}

TEST(PlannedPlacement, GoesByTheDefaultRuleWhereThePlanDoesNotFit) {
  TestCluster cluster = three_of_five();
  for (const std::uint32_t node : {0U, 2U}) cluster.add_running({node}, shape_asking(2000, 1LL << 30));
  Pod pod = pod_with(spec_asking(100, 1LL << 20));
  Random random(1);
  PlannedPlacement policy({{"c", {1}}, {"d", {99}}});
  for (const char* name : {"c", "d", "unheard of"}) {  // cordoned, unknown, not planned
    pod.name = name;
    EXPECT_EQ(policy.choose(cluster.question(pod), random), NodeId{3}) << name;
  }
}

}  // namespace
}  // namespace evenkeel::scheduling
