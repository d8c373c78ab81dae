#include "monitor/windows.h"

#include <gtest/gtest.h>

namespace evenkeel::monitor {
namespace {

using namespace std::chrono_literals;

TEST(GaugeWindow, IsTheMeanOfTheLastReadings) {
  GaugeWindow window(3);
  EXPECT_FALSE(window.mean());
  window.add(3);
  EXPECT_EQ(window.mean(), 3);
  window.add(5);
  EXPECT_EQ(window.mean(), 4);
  window.add(7);
  window.add(9);
  EXPECT_EQ(window.mean(), 7);
}

TEST(RateWindow, KnowsNothingFromOneReading) {
  RateWindow window(5);
  window.add(100, 1s);
  EXPECT_FALSE(window.per_second());
  window.add(150, 2s);
  EXPECT_EQ(window.per_second(), 50);
}

TEST(RateWindow, ReachesBackAsManyIntervalsAsItIsLong) {
  RateWindow window(2);
  window.add(0, 0s);
  window.add(1000, 1s);
  window.add(1010, 2s);
  EXPECT_EQ(window.per_second(), 505);
  window.add(1020, 3s);
  EXPECT_EQ(window.per_second(), 10);
}

TEST(RateWindow, WeighsIntervalsByTheirLength) {
  RateWindow window(5);
  window.add(0, 0s);
  window.add(10, 1s);
  window.add(40, 4s);  // the process was stopped for a while
  EXPECT_EQ(window.per_second(), 10);
}

TEST(RateWindow, HoldsTheLastRateWhileACounterStartsAnew) {
  RateWindow window(5);
  window.add(1000, 1s);
  window.add(1100, 2s);
  window.add(7, 3s);
  EXPECT_EQ(window.per_second(), 100);
  window.add(27, 4s);
  EXPECT_EQ(window.per_second(), 20);
}

TEST(RateWindow, IsNotFooledByAClockThatStands) {
  RateWindow window(5);
  window.add(1000, 1s);
  window.add(1100, 1s);
  EXPECT_FALSE(window.per_second());
}

TEST(RateWindow, DoesNotTakeAnotherCounterForTheSame) {
  RateWindow window(5);
  window.add(0, 1s);
  window.add(10, 2s);
  window.restart();
  window.add(1'000'000, 3s);  // higher, as it happens
  EXPECT_EQ(window.per_second(), 10);
  window.add(1'000'020, 4s);
  EXPECT_EQ(window.per_second(), 20);
}

TEST(GaugeWindow, HoldsWhatItHeldWhereNobodyLooked) {
  GaugeWindow window(4);
  window.add(10);
  window.add(20);
  window.add(40, 2);
  EXPECT_EQ(window.mean(), 25);  // 20, 20, 20, 40
  window.add(80, 100);
  EXPECT_EQ(window.mean(), 50);  // 40, 40, 40, 80
}

TEST(RateWindow, SpreadsWhatHappenedWhileNobodyLooked) {
  RateWindow window(5);
  window.add(0, 0s);
  window.add(0, 1s);
  window.add(400, 5s, 3);  // of samples at 2, 3 and 4 s
  EXPECT_DOUBLE_EQ(*window.per_second(), 80);
  window.add(400, 6s);
  EXPECT_DOUBLE_EQ(*window.per_second(), 80);
  window.add(400, 7s);
  EXPECT_DOUBLE_EQ(*window.per_second(), 60);  // 100 at 2 s, 400 at 7 s
}

TEST(RateWindow, IsOverAllTheTimeNobodyLookedIfThatIsLongerThanItself) {
  RateWindow window(3);
  window.add(0, 0s);
  window.add(1000, 100s, 99);
  EXPECT_DOUBLE_EQ(*window.per_second(), 10);
}

}  // namespace
}  // namespace evenkeel::monitor
