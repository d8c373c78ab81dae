#include "monitor/stillness.h"

#include <gtest/gtest.h>

namespace evenkeel::monitor {
namespace {

using namespace std::chrono_literals;
constexpr Duration kLongest = 2s;

TEST(Stillness, LooksWithEverySampleAtWhatMoves) {
  Stillness still(3);
  for (Duration now = 0s; now < 10s; now += 100ms) {
    EXPECT_TRUE(still.is_due(now, kLongest));
    still.note(true, now);
  }
}

TEST(Stillness, LooksNoMoreOftenThanItIsTold) {
  Stillness still(3, 250ms);
  still.note(true, 0s);
  EXPECT_FALSE(still.is_due(200ms, kLongest));
  EXPECT_TRUE(still.is_due(300ms, kLongest));
}

TEST(Stillness, LooksAwayOnlyAfterAWholeWindow) {
  Stillness still(3);
  still.note(true, 0s);
  for (Duration now = 10s; now <= 30s; now += 10s) {
    EXPECT_TRUE(still.is_due(now, kLongest));
    still.note(false, now);
  }
  EXPECT_FALSE(still.is_due(31s, kLongest));
  EXPECT_TRUE(still.is_due(32s, kLongest));
}

TEST(Stillness, LooksAgainAfterAQuarterOfTheTimeItWasQuiet) {
  Stillness still(1);
  still.note(true, 0s);
  still.note(false, 4s);
  EXPECT_FALSE(still.is_due(4900ms, kLongest));
  EXPECT_TRUE(still.is_due(5s, kLongest));
  still.note(false, 6s);
  EXPECT_FALSE(still.is_due(7s, kLongest));
  EXPECT_TRUE(still.is_due(7s, 1s));
}

TEST(Stillness, LooksWithEverySampleAgainOnceItMoved) {
  Stillness still(1);
  still.note(true, 0s);
  still.note(false, 100s);
  EXPECT_FALSE(still.is_due(100'100ms, kLongest));
  still.note(true, 102s);
  EXPECT_TRUE(still.is_due(102'100ms, kLongest));
}

}  // namespace
}  // namespace evenkeel::monitor
