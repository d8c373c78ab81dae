#include "base/unit_text.h"

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

using namespace literals;
using namespace std::chrono_literals;

TEST(ParseDuration, ReadsUnitsSumsAndPlainSeconds) {
  EXPECT_EQ(*parse_duration("20s"), 20s);
  EXPECT_EQ(*parse_duration("5m"), 5min);
  EXPECT_EQ(*parse_duration("2h"), 2h);
  EXPECT_EQ(*parse_duration("1d"), 24h);
  EXPECT_EQ(*parse_duration("250ms"), 250ms);
  EXPECT_EQ(*parse_duration("100us"), 100us);
  EXPECT_EQ(*parse_duration("1.5h"), 90min);
  EXPECT_EQ(*parse_duration("1h30m"), 90min);
  EXPECT_EQ(*parse_duration("90"), 90s);
  EXPECT_EQ(*parse_duration("0"), 0s);
  EXPECT_EQ(*parse_duration("0.25"), 250ms);
}

TEST(ParseDuration, RefusesEverythingElse) {
  for (const char* text :
       {"", "s", "5 s", "5x", "-5s", "-5", "1h30", "5m-3s", "1e300", "nan", "5M", "1h 30m"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
  EXPECT_EQ(parse_duration("5x").error().message,
            "expected a duration such as 250ms, 20s, 5m, 2h or 1d, found '5x'");
}

TEST(ParseByteSize, ReadsBinaryAndDecimalUnits) {
  EXPECT_EQ(*parse_byte_size("4GiB"), 4_GiB);
  EXPECT_EQ(*parse_byte_size("4Gi"), 4_GiB);
  EXPECT_EQ(*parse_byte_size("8.4MB"), 8400000_B);
  EXPECT_EQ(*parse_byte_size("36 MB"), 36000000_B);
  EXPECT_EQ(*parse_byte_size("1.5KiB"), 1536_B);
  EXPECT_EQ(*parse_byte_size("512"), 512_B);
  EXPECT_EQ(*parse_byte_size("512 B"), 512_B);
}

TEST(ParseByteSize, RefusesEverythingElse) {
  for (const char* text : {"", "GiB", "4gib", "4GiB/s", "-4GiB", "1e30", "4 G iB", "four", "4GiB "}) {
    EXPECT_FALSE(parse_byte_size(text)) << text;
  }
}

TEST(ParseByteRate, ReadsBytesAndBitsPerSecond) {
  EXPECT_EQ(*parse_byte_rate("8.4MB/s"), 8400000_Bps);
  EXPECT_EQ(*parse_byte_rate("36 MB/s"), 36000000_Bps);
  EXPECT_EQ(*parse_byte_rate("1KiB/s"), 1024_Bps);
  EXPECT_EQ(*parse_byte_rate("10Gbit/s"), 1250000000_Bps);
  EXPECT_EQ(*parse_byte_rate("8 bit/s"), 1_Bps);
  EXPECT_EQ(*parse_byte_rate("1000"), 1000_Bps);
}

TEST(ParseByteRate, RefusesASizeWithoutASecond) {
  for (const char* text : {"", "/s", "8.4MB", "8.4MB/h", "-1MB/s", "10 gbit/s", "MB/s"}) {
    EXPECT_FALSE(parse_byte_rate(text)) << text;
  }
}

TEST(ToText, ReadsBackAsTheSameValue) {
  for (const Duration duration :
       {Duration(0s), Duration(1us), Duration(1500ms), Duration(90min), Duration(48h)}) {
    EXPECT_EQ(*parse_duration(to_text(duration)), duration) << to_text(duration);
  }
  for (const Bytes bytes : {0_B, 1_B, 1000_B, 3_KiB, 5_GiB}) {
    EXPECT_EQ(*parse_byte_size(to_text(bytes)), bytes) << to_text(bytes);
  }
  for (const BytesPerSecond rate : {0_Bps, 1_Bps, 36000000_Bps, 1024_Bps}) {
    EXPECT_EQ(*parse_byte_rate(to_text(rate)), rate) << to_text(rate);
  }
  EXPECT_EQ(to_text(90min), "90m");
  EXPECT_EQ(to_text(2_cpu), "2");
  EXPECT_EQ(to_text(250_mcpu), "250m");
}

}  // namespace
}  // namespace evenkeel
