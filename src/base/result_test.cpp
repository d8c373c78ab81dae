#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace evenkeel {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return invalid("odd");
  return n / 2;
}

Status refuse(bool yes) {
  if (yes) return unavailable("busy");
  return {};
}

TEST(Result, HoldsTheValue) {
  Result<int> four = half(8);
  ASSERT_TRUE(four);
  EXPECT_EQ(*four, 4);
}

TEST(Result, HoldsTheError) {
  Result<int> none = half(3);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, Error::Kind::invalid);
  EXPECT_EQ(none.error().message, "odd");
}

TEST(Result, GivesTheFallbackInPlaceOfAnError) {
  EXPECT_EQ(half(3).value_or(7), 7);
  EXPECT_EQ(half(4).value_or(7), 2);
}

TEST(Result, MovesAValueThatCannotBeCopied) {
  Result<std::unique_ptr<int>> made = std::make_unique<int>(5);
  std::unique_ptr<int> taken = *std::move(made);
  EXPECT_EQ(*taken, 5);
}

TEST(Result, KeepsATextApartFromAnErrorMessage) {
  Result<std::string> text = std::string("fine");
  EXPECT_EQ(text->size(), 4U);
}

TEST(ResultDeathTest, StopsWhenAnErrorIsReadAsAValue) {
  EXPECT_DEATH((void)*half(3), "check failed");
  EXPECT_DEATH((void)half(4).error(), "check failed");
}

TEST(Status, IsTrueWhenDone) {
  EXPECT_TRUE(refuse(false));
  Status refused = refuse(true);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().retryable());
  EXPECT_FALSE(half(1).error().retryable());
}

}  // namespace
}  // namespace evenkeel
