#include "base/kube_quantity.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace evenkeel {
namespace {

using Case = std::pair<const char*, std::int64_t>;

TEST(KubeQuantity, ReadsEverySpellingInMilliUnits) {
  for (const auto& [text, milli] :
       {Case{"100m", 100},      Case{"1", 1000},        Case{"1.5", 1500},      Case{"0.1", 100},
        Case{".5", 500},        Case{"2.", 2000},       Case{"1e3", 1'000'000}, Case{"1E3", 1'000'000},
        Case{"1e-3", 1},        Case{"1e+1", 10'000},   Case{"5k", 5'000'000},  Case{"+250m", 250},
        Case{"-250m", -250},    Case{"0", 0},           Case{"-0", 0},          Case{"00012m", 12},
        Case{"1Ki", 1'024'000}, Case{"0.5Ki", 512'000}, Case{"3000u", 3},       Case{"2000000n", 2}}) {
    const auto parsed = parse_quantity_milli(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(*parsed, milli) << text;
  }
}

TEST(KubeQuantity, ReadsEverySpellingInWholeUnits) {
  for (const auto& [text, whole] :
       {Case{"1Gi", 1LL << 30}, Case{"1Ki", 1024}, Case{"500M", 500'000'000}, Case{"1.5Gi", 3LL << 29},
        Case{"1T", 1'000'000'000'000}, Case{"2Ti", 2LL << 40}, Case{"1P", 1'000'000'000'000'000},
        Case{"1Pi", 1LL << 50}, Case{"9E", 9'000'000'000'000'000'000}, Case{"7Ei", 7LL << 60},
        Case{"128974848", 128'974'848}, Case{"129e6", 129'000'000}, Case{"128974848000m", 128'974'848},
        Case{"123Mi", 123LL << 20}, Case{"9223372036854775807", INT64_MAX}, Case{"0e99999", 0}}) {
    const auto parsed = parse_quantity(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(*parsed, whole) << text;
  }
}

TEST(KubeQuantity, RoundsAFractionAwayFromZero) {
  EXPECT_EQ(*parse_quantity_milli("1u"), 1);
  EXPECT_EQ(*parse_quantity_milli("1n"), 1);
  EXPECT_EQ(*parse_quantity_milli("-1n"), -1);
  EXPECT_EQ(*parse_quantity_milli("1000001n"), 2);
  EXPECT_EQ(*parse_quantity_milli("0.0001"), 1);
  EXPECT_EQ(*parse_quantity("100m"), 1);
  EXPECT_EQ(*parse_quantity("1100m"), 2);
  EXPECT_EQ(*parse_quantity("-1100m"), -2);
  EXPECT_EQ(*parse_quantity("1e-400"), 1);
  EXPECT_EQ(*parse_quantity("1.00000000000000000000000000001"), 2);
}

TEST(KubeQuantity, RefusesWhatDoesNotFit) {
  for (const char* text : {"12E", "9223372036854775808", "8Ei", "1e400", "-12E", "99999999999999999999999"}) {
    const auto parsed = parse_quantity(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_NE(parsed.error().message.find("too large"), std::string::npos);
  }
  EXPECT_FALSE(parse_quantity_milli("9223372036854776"));
  EXPECT_TRUE(parse_quantity_milli("9223372036854775"));
}

TEST(KubeQuantity, RefusesWhatIsNotAQuantity) {
  for (const char* text : {"",      "+",   "-",    ".",   "m",    "Gi",  "1.2.3", "1g",
                           "1K",    "1ki", "1KiB", "1GB", "1 Gi", " 1",  "1e",    "1e1.5",
                           "1e++3", "--1", "0x10", "NaN", "inf",  "1mm", "1,5",   "1e9999999999999999999"}) {
    EXPECT_FALSE(parse_quantity(text)) << text;
  }
  EXPECT_EQ(parse_quantity("many").error().message,
            "expected a quantity such as 500m, 2, 1.5, 1e3, 64Mi or 5G, found 'many'");
}

TEST(KubeQuantity, GivesUnitsToCpuAndMemory) {
  using namespace literals;
  EXPECT_EQ(*parse_cpu("0.25"), 250_mcpu);
  EXPECT_EQ(*parse_bytes("64Mi"), 64_MiB);
  EXPECT_FALSE(parse_cpu("two"));
  EXPECT_FALSE(parse_bytes("big"));
}

}  // namespace
}  // namespace evenkeel
