#include "scheduling/policies/least_imbalance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;

Demand uses(const Usage& mean) {
  Demand demand;
  demand.mean = mean;
  return demand;
}

// DRS eq. 13, written out: what the imbalance would be with `added` on that node.
double imbalance_with(const TestCluster& cluster, NodeId taker, const Usage& added) {
  double total = 0;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    std::vector<double> shares;
    for (std::uint32_t slot = 0; slot < cluster.state.columns().size(); ++slot) {
      if (!cluster.state.has_node({slot})) continue;
      const double amount = cluster.state.load({slot}).mean.of[d] + (slot == taker.slot ? added.of[d] : 0);
      const double capacity = cluster.state.node({slot}).capacity.of[d];
      shares.push_back(capacity > 0 ? amount / capacity : 0);
    }
    double mean = 0, variance = 0;
    for (const double share : shares) mean += share / static_cast<double>(shares.size());
    for (const double share : shares)
      variance += (share - mean) * (share - mean) / static_cast<double>(shares.size());
    total += std::sqrt(variance) / kDimensions;
  }
  return total;
}

TestCluster random_cluster(Random& random) {
  const auto nodes = static_cast<std::uint32_t>(2 + random.below(30));
  TestCluster cluster;
  for (std::uint32_t slot = 0; slot < nodes; ++slot) {
    Node node = test_node(slot, 1000 * static_cast<std::int64_t>(1 + random.below(8)));
    if (random.chance(0.1)) node.capacity[Dimension::read] = 0;
    node.unschedulable = slot > 0 && random.chance(0.2);
    cluster.state.set_node(node);
  }
  for (std::uint32_t i = 0; i < 2 * nodes; ++i)
    cluster.add_running({static_cast<std::uint32_t>(random.below(nodes))}, shape_asking(0, 0),
                        Usage{{random.uniform(), random.between(0, 1e9), random.between(0, 2e7),
                               random.between(0, 2e7), random.between(0, 2e7), random.between(0, 2e7)}});
  cluster.measure(Usage{{0.1, 1e8, 0, 0, 0, 0}});
  if (nodes > 3 && random.chance(0.5)) cluster.state.remove_node({2});
  return cluster;
}

TEST(LeastImbalance, EqualsBruteForce) {
  Random random(9);
  const Pod pod = pod_with(spec_asking(0, 0));
  for (int round = 0; round < 200; ++round) {
    TestCluster cluster = random_cluster(random);
    Usage added{
        {random.uniform(), random.between(0, 1e9), random.between(0, 3e7), 0, random.between(0, 3e7), 1e6}};
    const PlacementRequest question = cluster.question(pod, uses(added));
    double least = 1e9;
    for (std::uint32_t slot = 0; slot < question.feasible.size(); ++slot)
      if (question.feasible[slot]) least = std::min(least, imbalance_with(cluster, {slot}, added));
    LeastImbalance policy;
    const NodeId chosen = *policy.choose(question, random);
    ASSERT_TRUE(question.feasible[chosen.slot]);
    EXPECT_NEAR(imbalance_with(cluster, chosen, added), least, 1e-6) << round;
  }
}

TEST(LeastImbalance, ExplainsItsChoiceDimensionByDimension) {
  Random random(10);
  TestCluster cluster = random_cluster(random);
  const Pod pod = pod_with(spec_asking(0, 0));
  const PlacementRequest question = cluster.question(pod, uses(Usage{{0.5, 5e8, 1e7, 1e7, 1e7, 1e7}}));
  LeastImbalance policy;
  const ScoreSheet sheet = policy.explain(question);
  EXPECT_EQ(sheet.terms.size(), kDimensions);
  EXPECT_EQ(sheet.rows.front().node, policy.choose(question, random));
  for (const ScoreSheet::Row& row : sheet.rows) {
    double sum = 0;
    for (const double part : row.parts) sum += part;
    EXPECT_NEAR(sum, row.total, 1e-5);
    EXPECT_NEAR(-row.total, imbalance_with(cluster, row.node, question.demand.mean), 1e-5);
  }
}

TEST(LeastImbalance, DoesNotHerdPodsThatNoSampleShowsYet) {
  TestCluster cluster(2);
  cluster.measure();
  const Pod pod = pod_with(spec_asking(0, 0));
  const Demand demand = uses(Usage{{0.5, 1e8, 0, 0, 0, 0}});
  LeastImbalance policy;
  Random random(1);
  std::array<int, 2> taken{};
  for (int i = 0; i < 10; ++i) {
    const NodeId node = *policy.choose(cluster.question(pod, demand), random);
    cluster.add_running(node, shape_asking(0, 0), demand.mean);
    ++taken[node.slot];
  }
  EXPECT_EQ(taken[0], 5);
}

// Requests say "the second node", use says "the first".
TestCluster at_odds() {
  TestCluster cluster(2);
  cluster.add_running({0}, shape_asking(2000, 4LL << 30));
  cluster.add_running({1}, shape_asking(0, 0), Usage{{3, 6e9, 0, 0, 0, 0}});
  return cluster;
}

template <class Policy>
NodeId choice(TestCluster& cluster) {
  const Pod pod = pod_with(spec_asking(100, 1LL << 28));
  Policy policy;
  Random random(1);
  const NodeId chosen = *policy.choose(cluster.question(pod), random);
  EXPECT_EQ(policy.explain(cluster.question(pod)).rows.front().node, chosen);
  return chosen;
}

TEST(LeastImbalance, DecidesByKubeDefaultWhereLoadIsNotKnown) {
  TestCluster cluster = at_odds();
  EXPECT_EQ(choice<WeightedScores>(cluster), NodeId{1});
  EXPECT_EQ(choice<LeastImbalance>(cluster), NodeId{1});  // no sample ever
  cluster.measure();
  EXPECT_EQ(choice<LeastImbalance>(cluster), NodeId{0});
  cluster.now += 90s;
  EXPECT_EQ(choice<LeastImbalance>(cluster), NodeId{0});
  cluster.now += 1s;  // stale
  EXPECT_EQ(choice<LeastImbalance>(cluster), NodeId{1});
}

}  // namespace
}  // namespace evenkeel::scheduling
