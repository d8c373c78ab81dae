#include "reporting/http_query.h"

#include <gtest/gtest.h>

namespace evenkeel::reporting {
namespace {

TEST(HttpQuery, IsSplitAndDecoded) {
  EXPECT_EQ(decode_query("pod=default%2Fweb-1&limit=5"),
            (HttpPairs{{"pod", "default/web-1"}, {"limit", "5"}}));
  EXPECT_EQ(decode_query("verbose&exclude=ping&a=b=c"),
            (HttpPairs{{"verbose", ""}, {"exclude", "ping"}, {"a", "b=c"}}));
  EXPECT_EQ(decode_query("a=one+two%2B%26"), (HttpPairs{{"a", "one two+&"}}));
  EXPECT_EQ(decode_query(""), HttpPairs{});
  EXPECT_EQ(decode_query("&&&"), HttpPairs{});
  EXPECT_EQ(decode_query("=x"), (HttpPairs{{"", "x"}}));
}

TEST(HttpQuery, TakesWhatIsNoCodeAsItStands) {
  EXPECT_EQ(decode_url("100%"), "100%");
  EXPECT_EQ(decode_url("%zz%4"), "%zz%4");
  EXPECT_EQ(decode_url("%41%"), "A%");
  EXPECT_EQ(decode_url("a+b"), "a+b");
}

}  // namespace
}  // namespace evenkeel::reporting
