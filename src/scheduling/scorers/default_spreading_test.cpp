// Worked by hand from PodTopologySpread's rule with the system's default constraints:
//   raw = round( on node * ln(nodes + 2) + 3 - 1  +  in zone * ln(zones + 2) + 5 - 1 )
//   score = 100 * (most + least - raw) / most, in whole numbers.
#include <gtest/gtest.h>

#include "scheduling/scorers/scorer.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

const std::vector<OwnerReference> kReplicaSet{{"ReplicaSet", "web", "", true}};

TestCluster in_zones(const std::vector<std::string>& zones) {
  TestCluster cluster;
  for (std::uint32_t slot = 0; slot < zones.size(); ++slot) {
    Node node = test_node(slot);
    if (!zones[slot].empty()) node.labels.set("topology.kubernetes.io/zone", zones[slot]);
    cluster.state.set_node(node);
  }
  return cluster;
}

std::vector<float> scores(TestCluster& cluster) {
  const Pod pod = test_pod({1, 1}, test_shape(spec_asking(1, 1), {0}, kReplicaSet));
  const PlacementRequest question = cluster.question(pod);
  EXPECT_TRUE(spreads_by_default(question));
  std::vector<float> totals(question.feasible.size());
  default_spreading(question, 1, totals);
  return totals;
}

void add(TestCluster& cluster, std::uint32_t node, int pods) {
  for (int i = 0; i < pods; ++i) cluster.add_running({node}, test_shape(spec_asking(1, 1), {0}, kReplicaSet));
}

TEST(DefaultSpreading, PrefersNodesWithFewerOfTheSameWorkload) {
  TestCluster cluster = in_zones({"", "", ""});
  add(cluster, 0, 1);
  add(cluster, 1, 2);
  // ln 5 = 1.609: 3.609 -> 4, 5.219 -> 5, 2; most 5, least 2: 100 * 3/5, 100 * 2/5, 100 * 5/5
  EXPECT_EQ(scores(cluster), (std::vector<float>{60, 40, 100}));
}

TEST(DefaultSpreading, PrefersZonesWithFewerOfTheSameWorkload) {
  TestCluster cluster = in_zones({"a", "a", "b"});
  add(cluster, 0, 2);
  // nodes: ln 5; zones: ln 4 = 1.386. node 0: 2*1.609 + 2 + 2*1.386 + 4 = 11.99 -> 12; node 1: 2 + 2.773 + 4
  // = 8.77 -> 9; node 2: 6. most 12, least 6: 600/12, 900/12, 1200/12
  EXPECT_EQ(scores(cluster), (std::vector<float>{50, 75, 100}));
}

TEST(DefaultSpreading, CountsNoLabelAsAZoneOfItsOwnButScoresItByHostAlone) {
  TestCluster cluster = in_zones({"a", ""});
  add(cluster, 1, 3);
  // nodes: ln 4 = 1.386. node 0: 2 + 0 + 4 = 6; node 1: 3*1.386 + 2 = 6.16 -> 6: equal.
  EXPECT_EQ(scores(cluster), (std::vector<float>{100, 100}));
}

TEST(DefaultSpreading, LeavesOutOfAZoneTheNodesThatThePodDoesNotAskFor) {
  TestCluster cluster = in_zones({"a", "a", "b"});
  for (const std::uint32_t slot : {0U, 2U}) {
    Node node = cluster.state.node({slot});
    node.labels.set("disk", "ssd");
    cluster.state.set_node(node);
  }
  add(cluster, 1, 4);  // in zone a, on a node without ssd
  PodSpec spec = spec_asking(1, 1);
  spec.node_selector.set("disk", "ssd");
  const Pod pod = test_pod({1, 1}, test_shape(std::move(spec), {0}, kReplicaSet));
  const PlacementRequest question = cluster.question(pod);
  std::vector<float> totals(question.feasible.size());
  default_spreading(question, 1, totals);
  EXPECT_EQ(totals[0], totals[2]);
}

TEST(DefaultSpreading, DoesNotMindOtherWorkloads) {
  TestCluster cluster = in_zones({"", ""});
  for (int i = 0; i < 5; ++i) cluster.add_running({0}, shape_asking(1, 1, {7}));
  EXPECT_EQ(scores(cluster), (std::vector<float>{100, 100}));
}

TEST(DefaultSpreading, AppliesToReplicatedPodsWithoutConstraintsOfTheirOwn) {
  TestCluster cluster(1);
  const auto applies = [&](PodSpec spec, std::vector<OwnerReference> owners) {
    const Pod pod = test_pod({1, 1}, test_shape(std::move(spec), {}, std::move(owners)));
    return spreads_by_default(cluster.question(pod));
  };
  EXPECT_TRUE(applies({}, kReplicaSet));
  EXPECT_TRUE(applies({}, {{"StatefulSet", "db", "", true}}));
  EXPECT_FALSE(applies({}, {{"Job", "once", "", true}}));
  EXPECT_FALSE(applies({}, {{"ReplicaSet", "web", "", false}}));
  EXPECT_FALSE(applies({}, {}));
  PodSpec own;
  own.spread.emplace_back().do_not_schedule = false;
  EXPECT_FALSE(applies(own, kReplicaSet));
}

}  // namespace
}  // namespace evenkeel::scheduling
