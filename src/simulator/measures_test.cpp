#include "simulator/measures.h"

#include <gtest/gtest.h>

#include <cmath>

namespace evenkeel::simulator {
namespace {

using namespace std::chrono_literals;
using Shares = std::array<double, kDimensions>;

constexpr Time at(double seconds) { return Time{} + Duration(static_cast<std::int64_t>(seconds * 1e6)); }
constexpr Shares all(double share) { return {share, share, share, share, share, share}; }

Measures two_nodes(bool keep_series = false) {
  Measures measures(2, keep_series);
  measures.set_present(0, true);
  measures.set_present(1, true);
  return measures;
}

TEST(Measures, WeighEachStateByHowLongItLasted) {
  Measures measures = two_nodes();
  measures.set_node(0, all(0.6), 0, 0);  // and the other idle: mean 0.3, deviation 0.3
  measures.advance(at(10));
  measures.set_node(1, all(0.6), 0, 0);  // even: mean 0.6, deviation 0
  measures.advance(at(40));
  const auto s = measures.summarise();
  EXPECT_NEAR(s.utilization, (0.3 * 10 + 0.6 * 30) / 40, 1e-12);
  EXPECT_NEAR(s.imbalance, 0.3 * 10 / 40, 1e-12);
  EXPECT_NEAR(s.imbalance_of_means, (0.6 - 0.45) / 2, 1e-12);  // means .6 and .45
  EXPECT_NEAR(s.by_dimension[0], (0.6 + 0.45) / 2, 1e-12);
}

TEST(Measures, AverageTheDeviationsOfSixDimensions) {
  Measures measures = two_nodes();
  measures.set_node(0, {1, 0.5, 0, 0, 0, 0}, 0, 0);
  EXPECT_NEAR(measures.imbalance_now(), (0.5 + 0.25) / 6, 1e-12);
  EXPECT_NEAR(measures.utilization_now(), 1.5 / 12, 1e-12);
}

TEST(Measures, LookAtTheirWindowOnly) {
  Measures measures = two_nodes();
  measures.set_window(at(10), at(20));
  measures.set_node(0, all(1), 4, 1);
  measures.advance(at(5));
  measures.advance(at(15));  // five seconds of it count
  measures.set_node(0, all(0), 4, 4);
  measures.advance(at(18));
  measures.advance(at(100));
  const auto s = measures.summarise();
  EXPECT_NEAR(s.utilization, 0.5 * 5 / 10, 1e-12);
  EXPECT_NEAR(s.overload_node_minutes, 5.0 / 60, 1e-12);
  EXPECT_NEAR(s.unserved_cpu, 1 - (5 * 1 + 5 * 4) / 40.0, 1e-12);
}

TEST(Measures, CountANodeAsOverloadedAboveEightyPercentOfAnything) {
  Measures measures = two_nodes();
  measures.set_node(0, {0, 0, 0, 0, 0, 0.81}, 0, 0);
  measures.set_node(1, all(0.8), 0, 0);
  measures.advance(at(60));
  EXPECT_NEAR(measures.summarise().overload_node_minutes, 1, 1e-12);
  EXPECT_NEAR(measures.summarise().overload_share, 0.5, 1e-12);
}

TEST(Measures, LeaveNodesOutThatAreNotThere) {
  Measures measures = two_nodes();
  measures.set_node(0, all(0.9), 1, 1);
  measures.set_node(1, all(0.1), 1, 1);
  measures.advance(at(10));
  measures.set_present(1, false);
  EXPECT_NEAR(measures.imbalance_now(), 0, 1e-12);
  EXPECT_NEAR(measures.utilization_now(), 0.9, 1e-12);
  measures.advance(at(20));
  measures.set_present(0, false);
  EXPECT_EQ(measures.utilization_now(), 0);
  measures.advance(at(30));
  const auto s = measures.summarise();
  EXPECT_NEAR(s.imbalance, 0.4 * 10 / 30, 1e-12);
  EXPECT_NEAR(s.overload_share, 20.0 / 30, 1e-12);  // of node time: two for ten seconds, one for ten
}

TEST(Measures, StayExactThroughManyChanges) {
  Measures measures = two_nodes();
  for (int i = 0; i < 100'000; ++i)
    measures.set_node(static_cast<std::size_t>(i % 2), all(0.1 + i % 7 * 0.1), i % 5, i % 3);
  measures.set_node(0, all(0.5), 0, 0);
  measures.set_node(1, all(0.5), 0, 0);
  EXPECT_NEAR(measures.imbalance_now(), 0, 1e-6);
}

TEST(Measures, TellHowLongPodsTook) {
  Measures measures = two_nodes();
  for (int i = 1; i <= 20; ++i)
    measures.pod_finished({1.0 * i, 2.0 * i, 0.5 * i});  // took i, slowed down twice
  measures.pod_finished({0, 100, 10});
  const auto s = measures.summarise();
  EXPECT_EQ(s.finished, 21U);
  EXPECT_NEAR(s.makespan_s, 100, 1e-12);
  EXPECT_NEAR(s.response_mean_s, (210 + 100) / 21.0, 1e-12);
  EXPECT_NEAR(s.response_p95_s, 20, 1e-12);  // the 20th of 21
  EXPECT_NEAR(s.slowdown_p95, 2, 1e-12);
}

TEST(Measures, SayNothingOfPodsWhereNoneFinished) {
  const auto s = two_nodes().summarise();
  EXPECT_EQ(s.finished, 0U);
  EXPECT_EQ(s.makespan_s, 0);
  EXPECT_EQ(s.utilization, 0);
}

TEST(Measures, KeepASeriesForPictures) {
  Measures measures = two_nodes(true);
  measures.set_node(0, all(0.6), 0, 0);
  measures.advance(at(10));
  measures.set_node(1, all(0.6), 0, 0);
  measures.advance(at(10));  // no time passed
  measures.advance(at(20));
  ASSERT_EQ(measures.series().size(), 2U);
  EXPECT_EQ(measures.series()[0].at_s, 0);
  EXPECT_NEAR(measures.series()[0].imbalance, 0.3, 1e-12);
  EXPECT_EQ(measures.series()[1].at_s, 10);
  EXPECT_NEAR(measures.series()[1].deviation[0], 0, 1e-7);
  EXPECT_FLOAT_EQ(measures.series()[1].nodes[1][3], 0.6F);
}

TEST(Measures, SampleTheDeviationTenTimesUntilMostIsDone) {
  Measures measures = two_nodes(true);
  measures.set_node(0, {0.4, 0.2, 0, 0, 0, 0}, 0, 0);  // for half the time: 20 and 10 points
  measures.advance(at(50));
  measures.set_node(0, all(0), 0, 0);
  measures.advance(at(100));
  measures.pod_finished({0, 100, 50});
  EXPECT_NEAR(measures.summarise().sigma_cpu, 10, 1e-9);
  EXPECT_NEAR(measures.summarise().sigma_memory, 5, 1e-9);
}

}  // namespace
}  // namespace evenkeel::simulator
