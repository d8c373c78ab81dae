#include "prediction/usage_profile.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "prediction/regression.h"

namespace evenkeel::prediction {
namespace {

Usage times(double factor) { return Usage{{0.9, 1e8, 2e6, 1e6, 3e7, 4e7}} * factor; }

TEST(UsageProfile, IsEmptyUntilItHasSeenSomething) {
  UsageProfile profile;
  EXPECT_TRUE(profile.empty());
  profile.add(1, times(1));
  EXPECT_FALSE(profile.empty());
}

TEST(UsageProfile, ScalesDemandWithTheCpuAPodIsAllowed) {
  Random random(1);
  UsageProfile profile;
  for (int i = 0; i < 300; ++i) {
    const double cores = random.between(0.2, 0.8);
    profile.add(cores, times(cores));
  }
  const Demand demand = profile.predict(2);
  for (std::size_t d = 0; d < kDimensions; ++d)
    EXPECT_NEAR(demand.mean.of[d] / times(2).of[d], 1, 1e-3) << kDimensionNames[d];
}

TEST(UsageProfile, EqualsSixRegressionsOverTheSameAllowances) {
  Random random(2);
  UsageProfile profile;
  std::array<Regression, kDimensions> lines;
  for (int i = 0; i < 100; ++i) {
    const double cores = random.between(0.1, 4);
    Usage usage;
    for (double& amount : usage.of) amount = random.between(5, 10) + cores;
    profile.add(cores, usage);
    for (std::size_t d = 0; d < kDimensions; ++d) lines[d].add(cores, usage.of[d]);
  }
  const Demand demand = profile.predict(1.5);
  for (std::size_t d = 0; d < kDimensions; ++d) {
    EXPECT_NEAR(demand.mean.of[d], lines[d].predict(1.5), 1e-9);
    EXPECT_NEAR(demand.variance.of[d], lines[d].residual_variance(), 1e-9);
  }
}

TEST(UsageProfile, NeverPredictsLessThanNothing) {
  UsageProfile profile;
  for (const double cores : {1.0, 2.0, 3.0}) profile.add(cores, times(cores - 1));
  const Demand demand = profile.predict(0.1);
  for (const double amount : demand.mean.of) EXPECT_EQ(amount, 0);
  for (const double amount : demand.variance.of) EXPECT_GE(amount, 0);
}

TEST(UsageProfile, IsUnsureByAsMuchAsUseVaries) {
  Random random(3);
  UsageProfile profile;
  for (int i = 0; i < 4000; ++i) profile.add(1, Usage{{random.normal(5, 0.5), 0, 0, 0, 0, 0}});
  EXPECT_NEAR(profile.predict(1).variance[Dimension::cpu], 0.25, 0.02);
}

TEST(UsageProfile, LearnsNothingOfDimensionsThatWereNotMeasured) {
  UsageProfile profile;
  UsageProfile::Quality part;
  part.known = {true, true, false, false, false, false};
  for (int i = 0; i < 100; ++i) profile.add(1, Usage{{0.5, 1e8, 0, 0, 0, 0}}, part);
  EXPECT_EQ(profile.weight(Dimension::receive), 0);
  // The first that tells of it counts for what it says, not for a hundredth of it.
  profile.add(1, Usage{{0.5, 1e8, 7e6, 0, 0, 0}});
  EXPECT_DOUBLE_EQ(profile.predict(1).mean[Dimension::receive], 7e6);
  EXPECT_DOUBLE_EQ(profile.predict(1).mean[Dimension::cpu], 0.5);
}

TEST(UsageProfile, WeighsSamplesAsItIsTold) {
  UsageProfile profile;
  for (int i = 0; i < 10; ++i) profile.add(1, Usage{{4, 0, 0, 0, 0, 0}}, {kAllKnown, 0.1});
  for (int i = 0; i < 9; ++i) profile.add(1, Usage{{0.5, 0, 0, 0, 0, 0}});
  EXPECT_NEAR(profile.predict(1).mean[Dimension::cpu], (4 * 1 + 0.5 * 9) / 10, 1e-9);
  EXPECT_EQ(profile.peak()[Dimension::cpu], 0.5);  // of what counts in full
}

}  // namespace
}  // namespace evenkeel::prediction
