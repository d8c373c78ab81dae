#include "kubernetes/backoff.h"

#include <gtest/gtest.h>

namespace evenkeel::kubernetes {
namespace {

using std::chrono::seconds;

TEST(Backoff, DoublesUpToItsLimitWithinItsJitter) {
  Backoff backoff({seconds(1), seconds(8)});
  Random random(1);
  for (const int base : {1, 2, 4, 8, 8, 8}) {
    const Duration pause = backoff.next(random);
    EXPECT_GE(pause, seconds(base));
    EXPECT_LE(pause, seconds(2 * base));
  }
}

TEST(Backoff, StartsAnewWhenThingsWentWell) {
  Backoff backoff({seconds(1), seconds(60)});
  Random random(1);
  for (int i = 0; i < 5; ++i) (void)backoff.next(random);
  backoff.reset();
  EXPECT_LE(backoff.next(random), seconds(2));
}

TEST(Backoff, DiffersBetweenClients) {
  Random one(1), other(2);
  EXPECT_NE(Backoff().next(one), Backoff().next(other));
}

}  // namespace
}  // namespace evenkeel::kubernetes
