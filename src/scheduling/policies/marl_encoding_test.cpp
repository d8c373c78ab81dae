#include "scheduling/policies/marl_encoding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

AgentView some_view() {
  AgentView view;
  view.node.capacity = Usage{{4, 8e9, 100, 100, 200, 200}};
  view.node.used = Usage{{1, 2e9, 10, 20, 20, 50}};
  view.node.pods = 11;
  view.cluster.used = {0.5F, 0.4F, 0.3F, 0.2F, 0.1F, 0.3F};
  view.cluster.nodes = 4;
  view.pod.cpu = 0.4;
  view.pod.memory = 8e8;
  view.pod.priority = 999;
  view.pod.delay = 50;
  return view;
}

TEST(MarlEncoding, OfTheThesisHasItsTwelveEntries) {
  const std::vector<learning::Real> state = encode(some_view(), {});
  ASSERT_EQ(state.size(), 12U);
  const double expected[] = {0.25, 0.25, 0.25, 1, 0.1, 0.5, 0.4, 0.3, 0.1, 0.1, 0, 0};
  for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(state[i], expected[i], 1e-6) << i;
}

TEST(MarlEncoding, FillsTheThesissEmptyEntriesWhereAskedTo) {
  const std::vector<learning::Real> state = encode(some_view(), {MarlEncoding::thesis, true, true});
  EXPECT_NEAR(state[10], 0.5, 1e-6);
  EXPECT_NEAR(state[11], 3.0 / 9, 1e-6);
}

TEST(MarlEncoding, NamesEveryInput) {
  for (const MarlEncoding encoding : {MarlEncoding::thesis, MarlEncoding::shared}) {
    EXPECT_EQ(marl_normalisation(encoding).size(), input_count(encoding));
    EXPECT_EQ(encode(some_view(), {encoding}).size(), input_count(encoding));
  }
}

TEST(MarlEncoding, IsFiniteWhateverAMetricClaims) {
  const double kNan = std::numeric_limits<double>::quiet_NaN();
  const double kInfinity = std::numeric_limits<double>::infinity();
  for (const double bad : {kNan, kInfinity, -kInfinity, 1e300, -1.0}) {
    AgentView view = some_view();
    view.node.used.of[0] = bad;
    view.node.ahead[3].of[1] = bad;
    view.cluster.spread[2] = static_cast<float>(bad);
    view.pod.expected.of[4] = bad;
    view.node.capacity.of[5] = 0;
    for (const MarlEncoding encoding : {MarlEncoding::thesis, MarlEncoding::shared})
      for (const learning::Real input : encode(view, {encoding})) {
        EXPECT_TRUE(std::isfinite(input));
        EXPECT_LE(std::abs(input), kInputLimit);
      }
  }
}

TEST(MarlEncoding, KnowsAHandleAgainByItsKey) {
  const PodId pod{123456, 789};
  EXPECT_EQ(pod_id(pod_key(pod)), pod);
  EXPECT_NE(pod_key(pod), pod_key(PodId{123456, 790}));
}

TEST(OwnNodeView, SeesItsPodsEnd) {
  TestCluster cluster(2);
  for (int i = 0; i < 20; ++i)
    cluster.history.observe_end(pod_with(spec_asking(100, 1), {1}), std::chrono::seconds{60});
  cluster.add_running({0}, shape_asking(100, 1 << 20, {1}), Usage{{1, 0, 0, 0, 0, 0}}, 30);
  cluster.measure(Usage{{0.5, 0, 0, 0, 0, 0}});
  const OwnNode own = own_node(cluster.state, cluster.history, {0}, cluster.now, std::chrono::seconds{60});
  EXPECT_NEAR(own.used.of[0], 1.5, 1e-6);
  EXPECT_NEAR(own.ahead.front().of[0], 1.5, 0.05) << "six seconds on it still runs";
  EXPECT_NEAR(own.ahead.back().of[0], 0.5, 0.05) << "two minutes on it has ended";
  EXPECT_EQ(own.pods, 1);
}

TEST(ClusterSharesView, IsMeanAndSpreadOverNodes) {
  TestCluster cluster(2);
  cluster.add_running({0}, shape_asking(1000, 1 << 20), Usage{{2, 0, 0, 0, 0, 0}});
  const ClusterShares shares = cluster_shares(cluster.state);
  const double whole = cluster.state.node({0}).capacity.of[0];
  EXPECT_NEAR(static_cast<double>(shares.used[0]), 1 / whole, 1e-6);
  EXPECT_NEAR(static_cast<double>(shares.spread[0]), 1 / whole, 1e-6);
  EXPECT_EQ(shares.nodes, 2U);
  EXPECT_GT(shares.cpu_requested, 0);
}

}  // namespace
}  // namespace evenkeel::scheduling
