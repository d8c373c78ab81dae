#include "kubernetes/label_selector.h"

#include <gtest/gtest.h>

namespace evenkeel::kubernetes {
namespace {

bool selects(std::string_view selector, const Labels& labels) {
  const auto parsed = parse_label_selector(selector);
  return parsed && matches(*parsed, labels);
}

TEST(LabelSelectorText, SaysWhatKubectlsWould) {
  const Labels labels{{"pool", "a"}, {"zone", "x"}};
  EXPECT_TRUE(selects("pool=a", labels));
  EXPECT_TRUE(selects("pool == a, zone in (x, y)", labels));
  EXPECT_TRUE(selects("pool,!edge,zone!=z,zone notin (p,q)", labels));
  EXPECT_FALSE(selects("pool=b", labels));
  EXPECT_FALSE(selects("pool=a,edge", labels));
  EXPECT_FALSE(selects("!pool", labels));
}

TEST(LabelSelectorText, RefusesWhatItDoesNotUnderstand) {
  for (const char* text : {"", "=a", "a b", "pool in a", "pool near (a)", "a=b=c", "(a)", "!"}) {
    const auto parsed = parse_label_selector(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_NE(parsed.error().message.find("expected key=value"), std::string::npos);
  }
}

}  // namespace
}  // namespace evenkeel::kubernetes
