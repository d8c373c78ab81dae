#include "cluster/resources.h"

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

using namespace literals;

TEST(Resources, AreEqualInWhateverOrderTheyWereSet) {
  Resources a, b;
  a.set_extended("gpu", 1);
  a.set_extended("fpga", 2);
  b.set_extended("fpga", 2);
  b.set_extended("gpu", 1);
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.extended.front().name, "fpga");
}

TEST(Resources, CountNothingOfWhatTheyDoNotHave) {
  Resources r;
  EXPECT_EQ(r.extended_count("gpu"), 0);
  r.set_extended("gpu", 3);
  EXPECT_EQ(r.extended_count("gpu"), 3);
  EXPECT_EQ(r.extended_count("gp"), 0);
  r.set_extended("gpu", 0);
  EXPECT_TRUE(r.extended.empty());  // no zero counts: equality would depend on history
}

TEST(Resources, AddAndTakeAwayEveryKind) {
  Resources a{500_mcpu, 1_GiB, 2_GiB, {{"gpu", 1}}};
  const Resources b{250_mcpu, 512_MiB, 1_GiB, {{"fpga", 2}, {"gpu", 3}}};
  const Resources sum = a + b;
  EXPECT_EQ(sum, (Resources{750_mcpu, 1536_MiB, 3_GiB, {{"fpga", 2}, {"gpu", 4}}}));
  EXPECT_EQ(sum - b, a);
  EXPECT_EQ(sum - a, b);
}

TEST(Resources, TakeTheLargerOfEachKind) {
  const Resources a{500_mcpu, 1_GiB, 0_B, {{"gpu", 1}}};
  const Resources b{250_mcpu, 2_GiB, 1_GiB, {{"fpga", 2}}};
  EXPECT_EQ(max_of(a, b), (Resources{500_mcpu, 2_GiB, 1_GiB, {{"fpga", 2}, {"gpu", 1}}}));
  EXPECT_EQ(max_of(a, b), max_of(b, a));
}

}  // namespace
}  // namespace evenkeel
