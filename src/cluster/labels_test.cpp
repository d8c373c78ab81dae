#include "cluster/labels.h"

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

using enum SelectorOperator;

bool holds(const SelectorRequirement& requirement, const Labels& labels) {
  return matches(requirement, labels);
}

const Labels kNode{{"zone", "a"}, {"disk", "ssd"}, {"cores", "16"}, {"empty", ""}};

TEST(Labels, KeepOneValuePerKey) {
  Labels labels{{"b", "1"}, {"a", "2"}, {"b", "3"}};
  EXPECT_EQ(labels.all().size(), 2U);
  EXPECT_EQ(*labels.find("b"), "3");
  EXPECT_EQ(labels.find("c"), nullptr);
  EXPECT_EQ(labels, (Labels{{"a", "2"}, {"b", "3"}}));
}

TEST(SelectorRequirement, InHoldsForAListedValueOnly) {
  EXPECT_TRUE(holds({"zone", in, {"b", "a"}}, kNode));
  EXPECT_FALSE(holds({"zone", in, {"b"}}, kNode));
  EXPECT_FALSE(holds({"rack", in, {"a"}}, kNode));
  EXPECT_FALSE(holds({"zone", in, {}}, kNode));
}

TEST(SelectorRequirement, NotInHoldsWhereTheKeyIsAbsent) {
  EXPECT_TRUE(holds({"zone", not_in, {"b"}}, kNode));
  EXPECT_FALSE(holds({"zone", not_in, {"b", "a"}}, kNode));
  EXPECT_TRUE(holds({"rack", not_in, {"a"}}, kNode));
}

TEST(SelectorRequirement, ExistsAsksForTheKeyAndNotForItsValue) {
  EXPECT_TRUE(holds({"empty", exists, {}}, kNode));
  EXPECT_FALSE(holds({"rack", exists, {}}, kNode));
  EXPECT_FALSE(holds({"empty", does_not_exist, {}}, kNode));
  EXPECT_TRUE(holds({"rack", does_not_exist, {}}, kNode));
}

TEST(SelectorRequirement, ComparesIntegersAsNumbersAndStrictly) {
  EXPECT_TRUE(holds({"cores", greater_than, {"9"}}, kNode));  // as text "16" < "9"
  EXPECT_FALSE(holds({"cores", greater_than, {"16"}}, kNode));
  EXPECT_TRUE(holds({"cores", less_than, {"17"}}, kNode));
  EXPECT_FALSE(holds({"cores", less_than, {"16"}}, kNode));
  EXPECT_TRUE(holds({"cores", greater_than, {"-1"}}, kNode));
}

TEST(SelectorRequirement, ComparesNothingButIntegers) {
  for (const SelectorOperator op : {greater_than, less_than}) {
    EXPECT_FALSE(holds({"disk", op, {"1"}}, kNode));
    EXPECT_FALSE(holds({"empty", op, {"1"}}, kNode));
    EXPECT_FALSE(holds({"rack", op, {"1"}}, kNode));
    for (const char* value : {"1.5", "16 ", "0x10", "", "99999999999999999999"})
      EXPECT_FALSE(holds({"cores", op, {value}}, kNode)) << value;
    EXPECT_FALSE(holds({"cores", op, {"1", "2"}}, kNode));
    EXPECT_FALSE(holds({"cores", op, {}}, kNode));
  }
}

TEST(LabelSelector, NeedsEveryRequirementToHold) {
  EXPECT_TRUE(matches(LabelSelector{{{"zone", in, {"a"}}, {"disk", exists, {}}}}, kNode));
  EXPECT_FALSE(matches(LabelSelector{{{"zone", in, {"a"}}, {"disk", in, {"hdd"}}}}, kNode));
}

TEST(LabelSelector, SelectsEverythingWhenEmpty) { EXPECT_TRUE(matches(LabelSelector{}, Labels{})); }

}  // namespace
}  // namespace evenkeel
