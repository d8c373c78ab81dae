#include "learning/input_ranges.h"

#include <gtest/gtest.h>

#include <limits>

namespace evenkeel::learning {
namespace {

const std::vector<std::string> kNames{"cpu", "memory"};

TEST(InputSurvey, TellsWhereAllButAFewValuesLay) {
  InputSurvey survey(2);
  for (int i = 0; i <= 1000; ++i) survey.add(0, i);
  survey.add(0, -5000);
  survey.add(0, 9000);
  const std::vector<InputRange> ranges = survey.ranges(kNames);
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].input, "cpu");
  EXPECT_EQ(ranges[0].lowest, -5000);
  EXPECT_EQ(ranges[0].highest, 9000);
  EXPECT_NEAR(ranges[0].low, 4, 1);
  EXPECT_NEAR(ranges[0].high, 996, 1);
  EXPECT_EQ(ranges[1], (InputRange{"memory", 0, 0, 0, 0})) << "never seen";
}

TEST(InputSurvey, LeavesOutWhatIsNoNumber) {
  InputSurvey survey(1);
  survey.add(0, std::numeric_limits<Real>::quiet_NaN());
  survey.add(0, std::numeric_limits<Real>::infinity());
  survey.add(0, 2);
  EXPECT_EQ(survey.seen(0), 1U);
  EXPECT_EQ(survey.ranges({kNames.data(), 1})[0].highest, 2);
}

TEST(InputSurvey, KeepsAFairSampleOfALongLook) {
  InputSurvey survey(1);
  const int many = 20 * static_cast<int>(InputSurvey::kKept);
  for (int i = 0; i < many; ++i) survey.add(0, static_cast<Real>(i) / many);
  const InputRange range = survey.ranges({kNames.data(), 1})[0];
  EXPECT_NEAR(range.low, 0.005, 0.003);
  EXPECT_NEAR(range.high, 0.995, 0.003);
  EXPECT_EQ(range.lowest, 0);
}

TEST(InputSurvey, ALongLookCountsForMoreThanAShortOneWhenTheyAreJoined) {
  InputSurvey lengthy(1), brief(1);
  for (int i = 0; i < 10 * static_cast<int>(InputSurvey::kKept); ++i) lengthy.add(0, 1);
  for (int i = 0; i < 100; ++i) brief.add(0, 5);
  InputSurvey both(1);
  both.merge(brief);
  both.merge(lengthy);
  const InputRange range = both.ranges({kNames.data(), 1})[0];
  EXPECT_EQ(range.high, 1) << "five in ten thousand";
  EXPECT_EQ(range.highest, 5);
  EXPECT_EQ(both.seen(0), 10 * InputSurvey::kKept + 100);
}

}  // namespace
}  // namespace evenkeel::learning
