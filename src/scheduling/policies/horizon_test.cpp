#include "scheduling/policies/horizon.h"

#include <gtest/gtest.h>

#include "scheduling/policies/least_imbalance.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;

constexpr WorkloadId kBatch{1}, kService{2}, kNew{3};

// Runs of the batch workload last a minute, and history has shown it.
void teach(TestCluster& cluster) {
  for (int i = 0; i < 50; ++i) cluster.history.observe_end(pod_with(spec_asking(100, 1), kBatch), 60s);
}

Demand uses(const Usage& mean) {
  Demand demand;
  demand.mean = mean;
  return demand;
}

NodeId choice(PlacementPolicy& policy, TestCluster& cluster, const Demand& demand) {
  const Pod pod = pod_with(spec_asking(100, 1), kNew);
  Random random(1);
  return *policy.choose(cluster.question(pod, demand), random);
}

TEST(Horizon, PrefersTheNodeWhosePodsEndSoon) {
  TestCluster cluster(2);
  teach(cluster);
  const Usage half{{2, 2e9, 0, 0, 0, 0}};
  cluster.add_running({0}, shape_asking(100, 1, kService), half * 0.95);
  cluster.add_running({1}, shape_asking(100, 1, kBatch), half, 58);
  cluster.measure();
  const Demand demand = uses(Usage{{0.5, 5e8, 0, 0, 0, 0}});
  LeastImbalance greedy;
  Horizon horizon;
  EXPECT_EQ(choice(greedy, cluster, demand), NodeId{0});   // a little emptier now
  EXPECT_EQ(choice(horizon, cluster, demand), NodeId{1});  // much emptier in two seconds
}

TEST(Horizon, TakesAPodToBeYoungUntilItHasStarted) {
  TestCluster cluster(2);
  teach(cluster);
  const Usage half{{2, 2e9, 0, 0, 0, 0}};
  cluster.add_running({0}, shape_asking(100, 1, kBatch), half, 58);
  cluster.add_running({1}, shape_asking(100, 1, kBatch), half, 2);
  cluster.measure();
  Horizon horizon;
  EXPECT_EQ(choice(horizon, cluster, uses(Usage{{0.5, 5e8, 0, 0, 0, 0}})), NodeId{0});
}

TEST(Horizon, ChoosesAsGreedyDoesWhereNothingEnds) {
  Random random(21);
  for (int round = 0; round < 50; ++round) {
    const auto nodes = static_cast<std::uint32_t>(2 + random.below(20));
    TestCluster cluster(nodes);
    std::vector<std::uint32_t> level(nodes);
    for (std::uint32_t i = 0; i < nodes; ++i) level[i] = i + 1;
    random.shuffle(level);
    const Usage step{{0.15, 3e8, 4e6, 4e6, 4e6, 4e6}};
    for (std::uint32_t node = 0; node < nodes; ++node)
      cluster.add_running({node}, shape_asking(0, 0, kService), step * level[node]);
    cluster.measure();
    Horizon horizon;
    LeastImbalance greedy;
    EXPECT_EQ(choice(horizon, cluster, uses(step)), choice(greedy, cluster, uses(step)));
    EXPECT_EQ(level[choice(horizon, cluster, uses(step)).slot], 1U);
  }
}

TEST(Horizon, ForgetsANodeThatLeft) {
  TestCluster cluster(4);
  for (std::uint32_t node = 0; node < 4; ++node)
    cluster.add_running({node}, shape_asking(0, 0, kService), Usage{{0.5 * node, 1e9, 0, 0, 0, 0}});
  cluster.measure();
  const Pod pod = pod_with(spec_asking(0, 0), kNew);
  const Demand demand = uses(Usage{{0.5, 1e9, 0, 0, 0, 0}});
  Horizon old;
  old.explain(cluster.question(pod, demand));
  cluster.state.remove_node({3});
  Horizon fresh;
  const ScoreSheet a = old.explain(cluster.question(pod, demand)),
                   b = fresh.explain(cluster.question(pod, demand));
  ASSERT_EQ(a.rows.size(), 3U);
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    EXPECT_EQ(a.rows[i].node, b.rows[i].node);
    EXPECT_NEAR(a.rows[i].total, b.rows[i].total, 1e-6);
  }
}

TEST(Horizon, NoticesEveryChangeOfANode) {
  TestCluster cluster(2);
  cluster.measure();
  Horizon horizon;
  const Demand demand = uses(Usage{{0.5, 1e9, 0, 0, 0, 0}});
  choice(horizon, cluster, demand);
  const PodId pod = cluster.add_running({0}, shape_asking(0, 0, kService), Usage{{2, 4e9, 0, 0, 0, 0}});
  EXPECT_EQ(choice(horizon, cluster, demand), NodeId{1});
  cluster.state.remove_pod(pod);
  cluster.add_running({1}, shape_asking(0, 0, kService), Usage{{2, 4e9, 0, 0, 0, 0}});
  EXPECT_EQ(choice(horizon, cluster, demand), NodeId{0});
  Usage heavy{{3.5, 7e9, 0, 0, 0, 0}};
  cluster.state.set_base_load({0}, heavy, cluster.now);
  EXPECT_EQ(choice(horizon, cluster, demand), NodeId{1});
}

TEST(Horizon, DecidesByKubeDefaultWhereLoadIsNotKnown) {
  TestCluster cluster(2);
  cluster.add_running({0}, shape_asking(2000, 4LL << 30));
  cluster.add_running({1}, shape_asking(0, 0), Usage{{3, 6e9, 0, 0, 0, 0}});
  Horizon horizon;
  const Demand demand = uses(Usage{{0.5, 1e9, 0, 0, 0, 0}});
  EXPECT_EQ(choice(horizon, cluster, demand), NodeId{1});  // by requests
  cluster.measure();
  EXPECT_EQ(choice(horizon, cluster, demand), NodeId{0});  // by use
  cluster.now += 91s;
  EXPECT_EQ(choice(horizon, cluster, demand), NodeId{1});
}

TEST(Horizon, WritesDownItsDeliberation) {
  TestCluster cluster(3);
  teach(cluster);
  cluster.add_running({0}, shape_asking(100, 1, kBatch), Usage{{1, 1e9, 0, 0, 0, 0}}, 30);
  cluster.measure();
  const Pod pod = pod_with(spec_asking(100, 1), kBatch);  // comes and goes: no bursts
  const PlacementRequest question = cluster.question(pod, uses(Usage{{0.5, 1e9, 1e7, 0, 0, 0}}));
  Horizon horizon;
  Random random(1);
  const ScoreSheet sheet = horizon.explain(question);
  EXPECT_EQ(sheet.rows.back().node, NodeId{0});
  EXPECT_NE(horizon.choose(question, random), NodeId{0});
  ASSERT_EQ(sheet.terms.size(), 5U);
  EXPECT_EQ(sheet.terms.front(), "imbalance in 6 s");
  for (const ScoreSheet::Row& row : sheet.rows) {
    double sum = 0;
    for (const double part : row.parts) sum += part;
    EXPECT_NEAR(sum, row.total, 1e-5);
  }
}

}  // namespace
}  // namespace evenkeel::scheduling
