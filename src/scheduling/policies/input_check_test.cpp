#include "scheduling/policies/input_check.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace evenkeel::scheduling {
namespace {

const std::vector<learning::InputRange> kTrained{{"cpu", -1, 0, 1, 9}, {"disk", 0.5, 0.5, 0.5, 0.5}};

SelfCheck looked_at(InputCheck& check, const std::vector<double>& values) {
  check.begin();
  check.look(0, std::span<const double>(values), 0);
  return check.found();
}

TEST(InputCheck, CountsWhatLiesBeyondAllButAFewTrainedValues) {
  InputCheck check;
  check.trained_on(kTrained);
  EXPECT_EQ(looked_at(check, {0.5, 0.5}).outside, 0U);
  EXPECT_EQ(looked_at(check, {1.09, 0.515}).outside, 0U) << "a little beyond is no other world";
  EXPECT_EQ(looked_at(check, {1.2, 0.5}).outside, 1U);
  EXPECT_EQ(looked_at(check, {-0.2, 0.6}).outside, 2U);
  EXPECT_EQ(looked_at(check, {0.5, std::numeric_limits<double>::quiet_NaN()}).outside, 1U);
  EXPECT_EQ(looked_at(check, {0.5, 0.5}).inputs, 2U);
}

TEST(InputCheck, GoesByTheEncodingsLimitWhereTheModelDoesNotSay) {
  InputCheck check;
  const std::array<float, 3> values{0.5F, 4, -4};
  check.look(0, values, 4);
  EXPECT_EQ(check.found().inputs, 3U);
  EXPECT_EQ(check.found().outside, 2U);
  check.begin();
  check.look(0, values, 0);
  EXPECT_EQ(check.found().inputs, 0U) << "nothing to go by, so nothing is said";
}

TEST(InputCheck, ShowsASurveyWhatItLooksAt) {
  InputCheck check;
  learning::InputSurvey survey(3);
  check.record_into(&survey);
  const std::array<float, 2> values{2, 3};
  check.look(1, values, 4);
  check.record_into(nullptr);
  check.look(1, values, 4);
  EXPECT_EQ(survey.seen(0), 0U);
  EXPECT_EQ(survey.seen(1), 1U);
  EXPECT_EQ(survey.seen(2), 1U);
}

}  // namespace
}  // namespace evenkeel::scheduling
