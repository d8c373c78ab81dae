#include "base/time.h"

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

TEST(Time, ComesBackFromSecondsToTheNearestMicrosecond) {
  EXPECT_EQ(from_seconds(1.5), 1500ms);
  EXPECT_EQ(from_seconds(0.0000014), 1us);
  EXPECT_EQ(from_seconds(0.0000016), 2us);
  EXPECT_EQ(from_seconds(-2.0), -2s);
  EXPECT_DOUBLE_EQ(to_seconds(250ms), 0.25);
}

TEST(Time, AddsDurationsToInstants) {
  Time start{};
  EXPECT_EQ((start + 24h - start), std::chrono::days(1));
  EXPECT_LT(start, start + 1us);
}

}  // namespace
}  // namespace evenkeel
