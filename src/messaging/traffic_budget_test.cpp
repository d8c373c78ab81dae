#include "messaging/traffic_budget.h"

#include <gtest/gtest.h>

namespace evenkeel::messaging {
namespace {

using namespace std::chrono_literals;

TEST(TrafficBudget, GivesTheBurstAtOnceAndThenTheRate) {
  TrafficBudget budget(100, 1000);
  EXPECT_TRUE(budget.take(1000, 5s));
  EXPECT_FALSE(budget.take(1, 5s));
  EXPECT_EQ(budget.wait_for(200, 5s), 2s);
  EXPECT_FALSE(budget.take(200, 6s));
  EXPECT_TRUE(budget.take(200, 7s));
}

TEST(TrafficBudget, NeverHoldsMoreThanTheBurst) {
  TrafficBudget budget(100, 1000);
  EXPECT_FALSE(budget.take(1001, 24h));
  EXPECT_TRUE(budget.take(1000, 24h));
}

TEST(TrafficBudget, SettlesWhatWasUsed) {
  TrafficBudget budget(100, 1000);
  EXPECT_TRUE(budget.take(1000, 1s));
  budget.settle(1000, 400);
  EXPECT_TRUE(budget.take(600, 1s));
  budget.settle(600, 900);  // it took more than it had said
  EXPECT_FALSE(budget.take(1, 4s));
  EXPECT_TRUE(budget.take(100, 5s));
}

TEST(TrafficBudget, AClockThatGoesBackGivesNothing) {
  TrafficBudget budget(100, 1000);
  EXPECT_TRUE(budget.take(1000, 10s));
  EXPECT_FALSE(budget.take(1, 5s));
  EXPECT_FALSE(budget.take(101, 11s));
}

}  // namespace
}  // namespace evenkeel::messaging
