#include "base/spelling.h"

#include <gtest/gtest.h>

#include <array>

namespace evenkeel {
namespace {

constexpr std::array<std::string_view, 4> kFields{"count", "cpu", "per_hour", "memory"};

TEST(Spelling, FindsTheWordMeantByATypo) {
  EXPECT_EQ(nearest_spelling("cuont", kFields), "count");
  EXPECT_EQ(nearest_spelling("perhour", kFields), "per_hour");
  EXPECT_EQ(nearest_spelling("memroy", kFields), "memory");
  EXPECT_EQ(nearest_spelling("cp", kFields), "cpu");
}

TEST(Spelling, StaysSilentWhenNothingIsNear) {
  EXPECT_EQ(nearest_spelling("flavour", kFields), "");
  EXPECT_EQ(nearest_spelling("", kFields), "");
  EXPECT_EQ(nearest_spelling(std::string(10000, 'c'), kFields), "");
  EXPECT_EQ(did_you_mean("flavour", kFields), "");
}

TEST(Spelling, WritesTheEndingOfAMessage) {
  EXPECT_EQ(did_you_mean("cuont", kFields), "; did you mean 'count'?");
  EXPECT_EQ(joined(kFields), "count, cpu, per_hour, memory");
}

}  // namespace
}  // namespace evenkeel
