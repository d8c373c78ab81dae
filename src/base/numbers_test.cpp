#include "base/numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "base/random.h"

namespace evenkeel {
namespace {

TEST(ParseNumber, ReadsEverySpellingOfADecimal) {
  EXPECT_EQ(parse_number("12"), 12.0);
  EXPECT_EQ(parse_number("-0.5"), -0.5);
  EXPECT_EQ(parse_number("+3"), 3.0);
  EXPECT_EQ(parse_number(".5"), 0.5);
  EXPECT_EQ(parse_number("5."), 5.0);
  EXPECT_EQ(parse_number("1e3"), 1000.0);
  EXPECT_EQ(parse_number("2E-2"), 0.02);
  EXPECT_EQ(parse_number("000000000000000000000000012"), 12.0);
  EXPECT_EQ(parse_number("1e-999"), 0.0);
}

TEST(ParseNumber, RefusesWhatIsNotAFiniteDecimal) {
  for (const char* text : {"", "-", ".", "e3", "1e", "1e+", "nan", "NaN", "inf", "-Infinity", "0x10", "1 ",
                           " 1", "1,5", "1.2.3", "--1", "1e999", "12abc", "1_000"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  }
}

TEST(ParseNumber, RoundsAsTheLibraryDoesForAnyLength) {
  Random random(7);
  for (int i = 0; i < 20000; ++i) {
    std::string text = random.chance(0.5) ? "-" : "";
    const auto digits = 1 + random.below(25);
    const auto point = random.below(digits + 1);
    for (std::uint64_t d = 0; d < digits; ++d) {
      if (d == point) text += '.';
      text += static_cast<char>('0' + random.below(10));
    }
    if (random.chance(0.3)) text += "e" + std::to_string(static_cast<int>(random.below(60)) - 30);
    ASSERT_EQ(parse_number(text), std::strtod(text.c_str(), nullptr)) << text;
  }
}

TEST(ParseInteger, ReadsWholeNumbersOnly) {
  EXPECT_EQ(parse_integer("-42"), -42);
  EXPECT_EQ(parse_integer("+7"), 7);
  EXPECT_EQ(parse_integer("9223372036854775807"), INT64_MAX);
  for (const char* text : {"", "+", "-", "+-1", "1.0", "1e3", "9223372036854775808", "0x1", "1 ", "many"}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  }
}

TEST(NumberLength, EndsWhereTheUnitBegins) {
  EXPECT_EQ(number_length("8.4MB"), 3U);
  EXPECT_EQ(number_length("1e3s"), 3U);
  EXPECT_EQ(number_length("12E"), 2U);
  EXPECT_EQ(number_length("1e+x"), 1U);
  EXPECT_EQ(number_length("MB"), 0U);
}

TEST(FormatNumber, IsTheShortestSpellingThatReadsBack) {
  char buffer[32];
  EXPECT_EQ(format_number(0.1, buffer), "0.1");
  EXPECT_EQ(format_number(3, buffer), "3");
  EXPECT_EQ(parse_number(format_number(-1.0 / 3, buffer)), -1.0 / 3);
}

}  // namespace
}  // namespace evenkeel
