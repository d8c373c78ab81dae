#include "base/check.h"

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

TEST(Check, LetsATrueConditionPassAndEvaluatesItOnce) {
  int evaluations = 0;
  EVENKEEL_CHECK(++evaluations == 1);
  EXPECT_EQ(evaluations, 1);
}

TEST(CheckDeathTest, StopsTheProgramAndNamesThePlace) {
  EXPECT_DEATH(EVENKEEL_CHECK(1 + 1 == 3), "src/base/check_test.cpp:[0-9]+: check failed: 1 \\+ 1 == 3");
}

}  // namespace
}  // namespace evenkeel
