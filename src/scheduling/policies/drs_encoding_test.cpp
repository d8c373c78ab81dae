#include "scheduling/policies/drs_encoding.h"

#include <gtest/gtest.h>

#include <cmath>

#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;

// test_node's: 4 cores, 8 GiB, 1e8 B/s each way and for either direction of the disk.
constexpr double kGi = 1LL << 30;

void report(TestCluster& cluster, NodeId node, const Usage& total) {
  cluster.state.add_report({node, cluster.now, total, {}},
                           [](const PodRecord& r, const Usage&) { return r.expected; });
}

TEST(DrsEncoding, GivesEachNodesMetricsAsSharesOfItsCapacityAndThenThePods) {
  TestCluster cluster(2);
  report(cluster, {0}, Usage{{1, 2 * kGi, 5e7, 1e7, 2e7, 0}});
  report(cluster, {1}, Usage{{4, 8 * kGi, 0, 0, 0, 1e8}});
  const std::vector<std::uint32_t> slots = {0, 1};
  const auto nodes = node_metrics(cluster.state, slots, {});
  const auto pod = pod_metrics(cluster.state, slots, Usage{{0.4, 0.8 * kGi, 1e7, 0, 0, 3e7}});
  ASSERT_TRUE(nodes && pod);
  const std::vector<learning::Real> expected = {0.25, 0.25, 0.5, 0.1, 0.2, 0,   1, 1, 0,
                                                0,    0,    1,   0.1, 0.1, 0.1, 0, 0, 0.3};
  const std::vector<learning::Real> state = drs_state(*nodes, *pod, 1),
                                    percent = drs_state(*nodes, *pod, 100);
  ASSERT_EQ(state.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(state[i], expected[i], 1e-12) << i;
    EXPECT_NEAR(percent[i], 100 * expected[i], 1e-10) << i;
  }
}

TEST(DrsEncoding, AveragesTheLastSamplesAsTheMonitorDoes) {
  TestCluster cluster(1);
  for (int i = 0; i < 7; ++i, cluster.now += 100ms)
    report(cluster, {0}, Usage{{1.0 * i, kGi * i, 0, 0, 0, 0}});
  const auto use = cluster.state.measured_use({0});
  ASSERT_TRUE(use);
  EXPECT_DOUBLE_EQ((*use)[Dimension::cpu], (2 + 3 + 4 + 5 + 6) / 5.0);
  EXPECT_DOUBLE_EQ((*use)[Dimension::memory], kGi * (4 + 5 + 6) / 3);
  cluster.now += 5s;
  report(cluster, {0}, Usage{{0.5, kGi, 0, 0, 0, 0}});
  EXPECT_DOUBLE_EQ((*cluster.state.measured_use({0}))[Dimension::cpu], 0.5)
      << "older than a second: left out";
}

TEST(DrsEncoding, KnowsNoSamplesOfANodeThatNeverSentAny) {
  TestCluster cluster(2);
  report(cluster, {0}, Usage{{1, kGi, 0, 0, 0, 0}});
  EXPECT_TRUE(cluster.state.measured_use({0}));
  EXPECT_FALSE(cluster.state.measured_use({1}));
  cluster.state.remove_node({0});
  EXPECT_FALSE(cluster.state.measured_use({0})) << "gone, and its samples with it";
}

TEST(DrsEncoding, CountsAPodThatNoSampleShowsYet) {
  TestCluster cluster(1);
  report(cluster, {0}, Usage{{1, kGi, 0, 0, 0, 0}});
  const PodId pod = cluster.add_running({0}, shape_asking(1000, 1 << 30));
  const std::vector<FreshPod> fresh = {{pod, {0}, Usage{{1, 0, 0, 0, 0, 0}}}};
  const std::vector<std::uint32_t> slots = {0};
  EXPECT_DOUBLE_EQ((*node_metrics(cluster.state, slots, fresh))[0][0], 0.5);
  cluster.state.add_sample(pod, {}, cluster.now);
  EXPECT_DOUBLE_EQ((*node_metrics(cluster.state, slots, fresh))[0][0], 0.25) << "the sample shows it";
}

TEST(DrsEncoding, CapsWhatIsAboveCapacityAndRefusesWhatIsNoNumber) {
  TestCluster cluster(1);
  const std::vector<std::uint32_t> slots = {0};
  report(cluster, {0}, Usage{{400, kGi, 0, 0, 0, 0}});
  EXPECT_EQ((*node_metrics(cluster.state, slots, {}))[0][0], 1.0);
  for (const double bad : {std::nan(""), -1.0, static_cast<double>(INFINITY)}) {
    cluster.now += 5s;
    report(cluster, {0}, Usage{{1, kGi, bad, 0, 0, 0}});
    EXPECT_FALSE(node_metrics(cluster.state, slots, {})) << bad;
    EXPECT_FALSE(pod_metrics(cluster.state, slots, Usage{{0, bad, 0, 0, 0, 0}})) << bad;
  }
}

// Two nodes: CPU 20 and 60 %, memory 50 and 50 %, the rest nothing.
const std::vector<NodeMetrics> kNodes = {{0.2, 0.5, 0, 0, 0, 0}, {0.6, 0.5, 0, 0, 0, 0}};
const std::vector<std::uint8_t> kBoth = {1, 1};
const std::vector<std::uint32_t> kSlots = {0, 1};

double reward(DrsReward kind, TestCluster& cluster) {
  return reward_of(kind, {kNodes, kBoth, kSlots, cluster.state, cluster.history, 200});
}

TEST(DrsReward, IsUtilisationInPercentLessTwoHundredTimesTheImbalance) {
  const Balance balance = balance_of(kNodes, kBoth);
  EXPECT_NEAR(balance.utilization, (0.2 + 0.6 + 0.5 + 0.5) / 12, 1e-12);
  EXPECT_NEAR(balance.imbalance, 0.2 / 6, 1e-12);  // the deviation of 0.2 and 0.6, over six dimensions
  TestCluster cluster(2);
  EXPECT_NEAR(reward(DrsReward::drs, cluster), 15 - 200 * 0.2 / 6, 1e-9);
}

TEST(DrsReward, LeavesAbsentNodesOut) {
  const Balance balance = balance_of(kNodes, std::vector<std::uint8_t>{0, 1});
  EXPECT_NEAR(balance.utilization, 1.1 / 6, 1e-12);
  EXPECT_EQ(balance.imbalance, 0);
}

TEST(DrsReward, OfRlskLooksAtCpuAndMemoryAlone) {
  TestCluster cluster(2);
  // AvgUtil (.4 + .5) / 2 in percent; imbalance (.2 + 0) / 2; within nodes |.2-.5|/2 and |.6-.5|/2, at half
  // weight.
  EXPECT_NEAR(reward(DrsReward::rlsk, cluster), 45 - 200 * 0.1 - 100 * (0.15 + 0.05) / 2, 1e-9);
}

TEST(DrsReward, OfDeepRmCountsEveryPodByOneOverItsRunTime) {
  TestCluster cluster(2);
  for (int i = 0; i < 20; ++i) cluster.history.observe_end(pod_with(spec_asking(100, 1), {1}), 50s);
  cluster.add_running({0}, shape_asking(100, 1, {1}));
  cluster.add_running({1}, shape_asking(100, 1, {1}));
  EXPECT_NEAR(reward(DrsReward::deeprm, cluster), -100 * 2 / 50.0, 0.01);
  // Memory is half full on the first node, CPU 60 % on the second.
  EXPECT_NEAR(reward(DrsReward::multi_deeprm, cluster), -100 * (1.5 + 1.6) / 50.0, 0.01);
}

}  // namespace
}  // namespace evenkeel::scheduling
