#include "reporting/series_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace evenkeel::reporting {
namespace {

SeriesHistory filled(std::size_t capacity, int samples) {
  SeriesHistory history(capacity);
  for (int i = 0; i < samples; ++i) history.add({static_cast<double>(i), i % 2 == 0 ? 0.0 : 1.0, 0.5});
  return history;
}

TEST(SeriesHistory, IsEmptyBeforeTheFirstSample) { EXPECT_TRUE(SeriesHistory().points().empty()); }

TEST(SeriesHistory, KeepsAShortRunAsItIs) {
  const auto points = filled(600, 100).points();
  ASSERT_EQ(points.size(), 100u);
  EXPECT_EQ(points[7].at_s, 7.0);
  EXPECT_EQ(points[7].imbalance, 1.0);
}

TEST(SeriesHistory, NeverGrowsBeyondItsCapacity) {
  for (const int samples : {599, 600, 601, 1200, 12345, 100000}) {
    const auto points = filled(600, samples).points();
    EXPECT_LE(points.size(), 600u) << samples;
    EXPECT_GE(points.size(), 290u) << samples;
  }
}

TEST(SeriesHistory, CoversTheWholeRunUpToTheNewestSample) {
  const auto points = filled(600, 50001).points();
  EXPECT_LT(points.front().at_s, 200.0);
  EXPECT_EQ(points.back().at_s, 50000.0);
  EXPECT_TRUE(std::is_sorted(points.begin(), points.end(),
                             [](const SeriesPoint& a, const SeriesPoint& b) { return a.at_s < b.at_s; }));
}

TEST(SeriesHistory, KeepsTheMeanOfWhatItCondenses) {
  const auto points = filled(64, 64000).points();
  const double total =
      std::accumulate(points.begin(), points.end() - 1, 0.0,
                      [](double sum, const SeriesPoint& point) { return sum + point.imbalance; });
  EXPECT_NEAR(total / static_cast<double>(points.size() - 1), 0.5, 1e-9);
}

TEST(SeriesHistory, SurvivesACapacityThatIsTooSmall) { EXPECT_LE(filled(0, 1000).points().size(), 3u); }

}  // namespace
}  // namespace evenkeel::reporting
