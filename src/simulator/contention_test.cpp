#include "simulator/contention.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace evenkeel::simulator {
namespace {

constexpr Usage kNode{{4, 8e9, 1e8, 1e8, 1e8, 1e8}};

TEST(Contention, GivesEverybodyEverythingWhereThereIsEnough) {
  Claim claims[] = {{Usage{{1, 2e9, 0, 0, 0, 0}}, 0}, {Usage{{2, 2e9, 9e7, 0, 0, 0}}, 0}};
  const Usage base{{1, 1e9, 1e7, 0, 0, 0}};
  EXPECT_EQ(divide(kNode, base, claims), (Usage{{4, 5e9, 1e8, 0, 0, 0}}));  // to the last core
  for (const Claim& claim : claims) EXPECT_EQ(claim.speed, 1);
}

TEST(Contention, DividesWhatTheBaseLoadLeavesInProportionToDemand) {
  Claim claims[] = {{Usage{{4, 0, 0, 0, 0, 0}}, 1}, {Usage{{2, 0, 0, 0, 0, 0}}, 1}};
  const Usage used = divide(kNode, Usage{{1, 0, 0, 0, 0, 0}}, claims);
  EXPECT_DOUBLE_EQ(claims[0].speed, 0.5);  // three cores for six: two and one
  EXPECT_DOUBLE_EQ(claims[1].speed, 0.5);
  EXPECT_DOUBLE_EQ(used[Dimension::cpu], 4);
}

TEST(Contention, MakesAPodAsFastAsItsScarcestResource) {
  Claim claims[] = {
      {Usage{{4, 0, 1e8, 0, 0, 0}}, 1}, {Usage{{4, 0, 0, 0, 0, 0}}, 1}, {Usage{{0, 0, 3e8, 0, 0, 0}}, 1}};
  const Usage used = divide(kNode, {}, claims);
  EXPECT_DOUBLE_EQ(claims[0].speed, 0.25);  // network: 1e8 for 4e8
  EXPECT_DOUBLE_EQ(claims[1].speed, 0.5);   // cpu: 4 for 8
  EXPECT_DOUBLE_EQ(claims[2].speed, 0.25);
  EXPECT_DOUBLE_EQ(used[Dimension::cpu], 3);  // the first takes no more than it can use
}

TEST(Contention, DoesNotDivideMemory) {
  Claim claims[] = {{Usage{{1, 6e9, 0, 0, 0, 0}}, 1}, {Usage{{1, 6e9, 0, 0, 0, 0}}, 1}};
  EXPECT_DOUBLE_EQ(divide(kNode, {}, claims)[Dimension::memory], 12e9);
  EXPECT_EQ(claims[0].speed, 1);
}

TEST(Contention, KeepsASlowPodsMemoryWhole) {
  Claim claims[] = {{Usage{{8, 1e9, 0, 0, 0, 0}}, 1}};
  EXPECT_DOUBLE_EQ(divide(kNode, {}, claims)[Dimension::memory], 1e9);
  EXPECT_DOUBLE_EQ(claims[0].speed, 0.5);
}

TEST(Contention, DoesNotSlowDownWhoWantsNothingOfWhatIsScarce) {
  Claim claims[] = {{Usage{{8, 0, 0, 0, 0, 0}}, 1}, {Usage{{0, 0, 0, 0, 5e7, 0}}, 1}};
  divide(kNode, {}, claims);
  EXPECT_EQ(claims[1].speed, 1);
}

TEST(Contention, DoesNotDivideWhatANodeSaysNothingAbout) {
  Usage node = kNode;
  node[Dimension::read] = 0;  // no such figure: as elsewhere, not modelled
  Claim claims[] = {{Usage{{1, 0, 0, 0, 5e7, 0}}, 1}};
  divide(node, {}, claims);
  EXPECT_EQ(claims[0].speed, 1);
}

TEST(Contention, NeverGivesMoreThanThereIsNorMoreThanIsWanted) {
  Random random(8);
  for (int round = 0; round < 2000; ++round) {
    Usage base;
    for (std::size_t d = 0; d < kDimensions; ++d) base.of[d] = random.between(0, 0.5) * kNode.of[d];
    std::vector<Claim> claims(random.below(12));
    Usage wanted;
    for (Claim& claim : claims) {
      for (std::size_t d = 0; d < kDimensions; ++d)
        if (random.chance(0.6)) claim.demand.of[d] = random.between(0, 0.3) * kNode.of[d];
      wanted += claim.demand;
    }
    const Usage used = divide(kNode, base, claims);
    Usage given = base;
    for (const Claim& claim : claims) {
      ASSERT_GT(claim.speed, 0);
      ASSERT_LE(claim.speed, 1);
      Usage part = claim.demand * claim.speed;
      part[Dimension::memory] = claim.demand[Dimension::memory];
      given += part;
    }
    for (std::size_t d = 0; d < kDimensions; ++d) {
      ASSERT_NEAR(used.of[d], given.of[d], 1e-9 * kNode.of[d]);
      ASSERT_LE(used.of[d], base.of[d] + wanted.of[d] + 1e-9 * kNode.of[d]);
      const bool divided = d != static_cast<std::size_t>(Dimension::memory);
      ASSERT_LE(used.of[d], divided ? kNode.of[d] * (1 + 1e-12) : 1e99);
    }
  }
}

}  // namespace
}  // namespace evenkeel::simulator
