#include "kubernetes/rate_limit.h"

#include <gtest/gtest.h>

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;

TEST(RateLimit, LetsABurstThroughAndThenItsRate) {
  RateLimit limit(10, 3);
  const Time now{1h};
  EXPECT_EQ(limit.take(now), 0s);
  EXPECT_EQ(limit.take(now), 0s);
  EXPECT_EQ(limit.take(now), 0s);
  EXPECT_EQ(limit.take(now), 100ms);
  EXPECT_EQ(limit.take(now), 200ms);
  EXPECT_EQ(limit.take(now + 10s), 0s);  // rested
}

TEST(RateLimit, NoneMeansNone) {
  RateLimit limit;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(limit.take(Time{}), 0s);
}

}  // namespace
}  // namespace evenkeel::kubernetes
