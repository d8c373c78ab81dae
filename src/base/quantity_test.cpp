#include "base/quantity.h"

#include <gtest/gtest.h>

#include <concepts>

namespace evenkeel {
namespace {

using namespace literals;

template <class A, class B>
concept Addable = requires(A a, B b) { a + b; };

static_assert(Addable<MilliCpu, MilliCpu>);
static_assert(!Addable<MilliCpu, Bytes>);
static_assert(!Addable<MilliCpu, int>);
static_assert(!std::convertible_to<int, MilliCpu>);
static_assert(!std::convertible_to<MilliCpu, std::int64_t>);

TEST(Quantity, AddsSubtractsAndComparesWithItsOwnKind) {
  EXPECT_EQ(250_mcpu + 750_mcpu, 1_cpu);
  EXPECT_EQ(1_GiB - 512_MiB, 512_MiB);
  EXPECT_LT(1_KiB, 1_MiB);
  EXPECT_EQ(3 * 100_mcpu, 300_mcpu);
  EXPECT_EQ(-(1_B), Bytes{-1});
}

TEST(Quantity, BecomesANumberOnlyAsAShare) {
  EXPECT_DOUBLE_EQ(ratio(500_mcpu, 2_cpu), 0.25);
  EXPECT_DOUBLE_EQ(ratio(1_GiB, 0_B), 0.0);
}

TEST(Quantity, ScalesToTheNearestUnit) {
  EXPECT_EQ(scaled(10_mcpu, 0.25), 3_mcpu);
  EXPECT_EQ(scaled(1_GiB, 0.5), 512_MiB);
}

}  // namespace
}  // namespace evenkeel
