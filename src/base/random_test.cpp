#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace evenkeel {
namespace {

// From an independent implementation, itself checked against the authors' published outputs.
TEST(Random, RepeatsTheReferenceSequence) {
  Random random(42);
  EXPECT_EQ(random.bits(), 0xd0764d4f4476689fULL);
  EXPECT_EQ(random.bits(), 0x519e4174576f3791ULL);
  EXPECT_EQ(random.bits(), 0xfbe07cfb0c24ed8cULL);
  EXPECT_EQ(random.bits(), 0xb37d9f600cd835b8ULL);
  Random again(42);
  EXPECT_EQ(again.uniform(), 0.8143051451229099);
}

// Every golden trace rests on these values: a change here changes all of them.
TEST(Random, SamplesTheSameBitsEverywhere) {
  Random random(7);
  EXPECT_EQ(random.normal(), 1.674036445441065);
  EXPECT_EQ(random.normal(), -0.560049561941806);
  EXPECT_EQ(random.exponential(2), 6.6296461185650895);
  EXPECT_EQ(random.below(1000), 465U);
  EXPECT_EQ(random.fork("workload").bits(), 0xbadd66509d5e8739ULL);
  EXPECT_EQ(random.fork(3).bits(), 0x237f667ffb845fefULL);
}

TEST(Random, ForksStreamsThatDependOnNamesAndNotOnDraws) {
  const Random root(1);
  Random drawn(1);
  for (int i = 0; i < 10; ++i) (void)drawn.bits();
  EXPECT_EQ(root.fork("a").bits(), drawn.fork("a").bits());
  EXPECT_NE(root.fork("a").bits(), root.fork("b").bits());
  EXPECT_NE(root.fork("a").bits(), Random(2).fork("a").bits());
  EXPECT_NE(root.fork("a").fork("b").bits(), root.fork("b").fork("a").bits());
  EXPECT_NE(root.fork(0).bits(), root.fork(1).bits());
  EXPECT_NE(root.fork("").bits(), Random(1).bits());
}

TEST(Random, SpreadsNeighbouringForksEvenly) {
  const Random root(1);
  double sum = 0;
  constexpr int kForks = 10000;
  for (std::uint64_t i = 0; i < kForks; ++i) sum += root.fork(i).uniform();
  EXPECT_NEAR(sum / kForks, 0.5, 0.015);
}

TEST(Random, DrawsBelowALimitWithoutFavour) {
  Random random(3);
  std::array<int, 6> counts{};
  constexpr int kDraws = 60000;
  for (int i = 0; i < kDraws; ++i) ++counts[random.below(6)];
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 6, 400);
  EXPECT_EQ(random.below(1), 0U);
  // Two thirds of the range: a draw by remainder would land in the lower third half of the time.
  constexpr std::uint64_t kThird = 0x5555555555555555ULL;
  int low = 0;
  for (int i = 0; i < kDraws; ++i) low += random.below(2 * kThird) < kThird ? 1 : 0;
  EXPECT_NEAR(low, kDraws / 2, 700);
}

TEST(RandomDeathTest, StopsWhenAskedForANumberBelowZero) {
  EXPECT_DEATH((void)Random(1).below(0), "check failed");
}

TEST(Random, SamplesTheMomentsOfItsDistributions) {
  Random random(5);
  constexpr int kDraws = 200000;
  double normal = 0;
  double normal_square = 0;
  double exponential = 0;
  double uniform = 0;
  int beyond_two = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double n = random.normal();
    normal += n;
    normal_square += n * n;
    beyond_two += std::abs(n) > 2 ? 1 : 0;
    exponential += random.exponential(3);
    const double u = random.between(-1, 3);
    EXPECT_GE(u, -1);
    EXPECT_LT(u, 3);
    uniform += u;
  }
  EXPECT_NEAR(normal / kDraws, 0, 0.01);
  EXPECT_NEAR(normal_square / kDraws, 1, 0.01);
  EXPECT_NEAR(beyond_two / double{kDraws}, 0.0455, 0.002);
  EXPECT_NEAR(exponential / kDraws, 3, 0.03);
  EXPECT_NEAR(uniform / kDraws, 1, 0.01);
}

TEST(Random, ShufflesIntoEveryOrderAlike) {
  Random random(9);
  std::array<int, 6> orders{};
  for (int i = 0; i < 6000; ++i) {
    std::vector<int> items{0, 1, 2};
    random.shuffle(items);
    int order = 0;
    std::vector<int> candidate{0, 1, 2};
    while (candidate != items) {
      std::next_permutation(candidate.begin(), candidate.end());
      ++order;
    }
    ++orders[static_cast<std::size_t>(order)];
  }
  for (const int count : orders) EXPECT_NEAR(count, 1000, 150);
}

TEST(PortableLog, AgreesWithTheLibraryToTheLastPlace) {
  Random random(11);
  for (int i = 0; i < 100000; ++i) {
    const double x = std::ldexp(1 + random.uniform(), static_cast<int>(random.below(2000)) - 1000);
    const double expected = std::log(x);
    ASSERT_NEAR(portable_log(x), expected, 2.3e-16 * std::abs(expected) + 1e-300) << x;
  }
  EXPECT_EQ(portable_log(1), 0);
  EXPECT_NEAR(portable_log(5e-324), std::log(5e-324), 1e-12);
}

}  // namespace
}  // namespace evenkeel
