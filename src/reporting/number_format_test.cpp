#include "reporting/number_format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace evenkeel::reporting {
namespace {

TEST(FormatNumber, KeepsFourSignificantDigits) {
  EXPECT_EQ(format_number(0.0), "0");
  EXPECT_EQ(format_number(0.082149), "0.08215");
  EXPECT_EQ(format_number(12.40), "12.4");
  EXPECT_EQ(format_number(1534.4), "1534");
  EXPECT_EQ(format_number(123456.0), "123456");
  EXPECT_EQ(format_number(-0.5), "-0.5");
}

TEST(FormatNumber, TurnsToPowersOfTenAtTheExtremes) {
  EXPECT_EQ(format_number(1.5e-9), "1.50e-09");
  EXPECT_EQ(format_number(2e12), "2.00e+12");
  EXPECT_EQ(format_number(std::numeric_limits<double>::max()), "1.80e+308");
}

TEST(FormatNumber, ShowsADashWhereThereIsNoNumber) {
  EXPECT_EQ(format_number(NAN), "–");
  EXPECT_EQ(format_number(INFINITY), "–");
}

TEST(FormatMeanSd, LetsTheSpreadDecideTheDigits) {
  EXPECT_EQ(format_mean_sd(0.08214, 0.0023), "0.0821 ± 0.0023");
  EXPECT_EQ(format_mean_sd(12.4321, 0.51), "12.43 ± 0.51");
  EXPECT_EQ(format_mean_sd(1534.2, 23.0), "1534 ± 23");
  EXPECT_EQ(format_mean_sd(3.0, 0.0), "3.00 ± 0.00");
  EXPECT_EQ(format_mean_sd(0.0, 0.0), "0 ± 0");
}

TEST(FormatMeanSd, LeavesOutASpreadThatIsUnknown) {
  EXPECT_EQ(format_mean_sd(0.5, std::nullopt), "0.5");
  EXPECT_EQ(format_mean_sd(0.5, NAN), "0.5");
  EXPECT_EQ(format_mean_sd(NAN, 0.1), "–");
}

TEST(FormatDuration, SpeaksInTheTwoLargestUnits) {
  EXPECT_EQ(format_duration(0), "0 s");
  EXPECT_EQ(format_duration(1.26), "1.3 s");
  EXPECT_EQ(format_duration(59.4), "59 s");
  EXPECT_EQ(format_duration(750), "12 min 30 s");
  EXPECT_EQ(format_duration(3 * 3600 + 300), "3 h 05 min");
  EXPECT_EQ(format_duration(2 * 86400 + 4 * 3600), "2 d 04 h");
  EXPECT_EQ(format_duration(7200), "2 h");
  EXPECT_EQ(format_duration(-30), "-30 s");
  EXPECT_EQ(format_duration(NAN), "–");
}

TEST(EscapeHtml, DisarmsEverythingThatHasAMeaning) {
  EXPECT_EQ(escape_html("<script>alert(\"x\")</script> & 'y'"),
            "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;y&#39;");
  EXPECT_EQ(escape_html("größe ± 日本"), "größe ± 日本");
}

TEST(EscapeHtml, ReplacesBytesThatAreNotText) {
  EXPECT_EQ(escape_html("a\xFF"
                        "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(escape_html("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // an overlong '/'
  EXPECT_EQ(escape_html("cut\xE6\x97"), "cut\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(escape_html(std::string_view("\0\x1b", 2)), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

}  // namespace
}  // namespace evenkeel::reporting
