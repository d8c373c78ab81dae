#include "prediction/arima.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"

namespace evenkeel::prediction {
namespace {

TEST(Arima, SaysTheLastValueUntilItHasSeenFour) {
  Arima arima;
  EXPECT_EQ(arima.next(), 0);
  arima.observe(10);
  arima.observe(14);
  EXPECT_EQ(arima.next(), 14);
}

TEST(Arima, LearnsThatChangesGoOn) {
  // Differences that keep seven tenths of the one before: the last value is beaten clearly.
  Arima arima;
  Random random(5);
  double value = 1000, change = 0, error = 0, naive = 0;
  for (int i = 0; i < 3000; ++i) {
    change = 0.7 * change + random.normal();
    const double next = std::max(0.0, value + change);
    if (i > 500) {
      error += std::abs(arima.next() - next);
      naive += std::abs(value - next);
    }
    value = next;
    arima.observe(value);
  }
  EXPECT_LT(error, 0.8 * naive);
}

TEST(Arima, IsNeverNegativeAndNeverLost) {
  Arima arima;
  for (const double value : {100.0, 1.0, 0.0, 1e9, 0.0, std::numeric_limits<double>::infinity(), -4.0,
                             std::numeric_limits<double>::quiet_NaN(), 3.0, 3.0, 3.0}) {
    arima.observe(value);
    EXPECT_TRUE(std::isfinite(arima.next()));
    EXPECT_GE(arima.next(), 0);
  }
  for (int i = 0; i < 100000; ++i) arima.observe(3);
  EXPECT_NEAR(arima.next(), 3, 0.5);
}

TEST(Arima, IsTakenUpWhereItWasPutAway) {
  Arima first;
  for (int i = 0; i < 50; ++i) first.observe(100 + 10 * std::sin(i));
  learning::SavedState state;
  first.save(state, "arima");
  Arima second;
  second.restore(state, "arima");
  ASSERT_TRUE(state.status());
  EXPECT_EQ(second.next(), first.next());
}

}  // namespace
}  // namespace evenkeel::prediction
