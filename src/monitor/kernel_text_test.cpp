#include "monitor/kernel_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace evenkeel::monitor {
namespace {

const IsCounted kAll = [](std::string_view) { return true; };
IsCounted only(std::string name) {
  return [name = std::move(name)](std::string_view seen) { return seen == name; };
}

TEST(KernelText, CountsWhatProcessorsDid) {
  const auto times = parse_stat(
      "cpu  1386766 843633 188949 161036 1432 7 4021 2059 100 0\n"
      "cpu0 679814 433411 91308 86072 405 0 1810 1046 0 0\n"
      "cpu1 706951 410222 97640 74964 1027 7 2210 1012 0 0\n"
      "intr 23975488 0 0 0\nctxt 52327528\n");
  ASSERT_TRUE(times);
  EXPECT_EQ(times->busy_ticks, 1386766u + 843633 + 188949 + 7 + 4021);
  EXPECT_EQ(times->processors, 2);
}

TEST(KernelText, CountsANodesMemoryAsKubeletsDo) {
  const auto facts = parse_meminfo(
      "MemTotal:       24682416 kB\nMemFree:        16036860 kB\nMemAvailable:   22567660 kB\n"
      "Buffers:           31636 kB\nInactive:        4993476 kB\nInactive(anon):  1506228 kB\n"
      "Inactive(file):  3487248 kB\n");
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->total, 24682416u * 1024);
  EXPECT_EQ(facts->used, (24682416u - 16036860 - 3487248) * 1024);
}

constexpr std::string_view kNetDev =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls "
    "carrier compressed\n"
    "    lo: 13559377987 9387237    0    0    0     0          0         0 13559377987 9387237    0    0    "
    "0     "
    "0       0          0\n"
    "  eth0: 606169701   21064    0    0    0     0          0         0  1719802   15742    0    0    0     "
    "0      "
    " 0          0\n"
    "vethab12:99 1    0    0    0     0          0         0  77   1    0    0    0     0       0          "
    "0\n";

TEST(KernelText, SumsInterfacesThatCount) {
  EXPECT_EQ(sum_interfaces(kNetDev, only("eth0")), (Transfers{.in = 606169701, .out = 1719802}));
  EXPECT_EQ(sum_interfaces(kNetDev, only("vethab12")),
            (Transfers{.in = 99, .out = 77}));  // no blank behind :
  EXPECT_EQ(sum_interfaces(kNetDev, only("eth1")), (Transfers{}));
  std::vector<std::string> names;
  for_each_interface(kNetDev, [&](std::string_view name) { names.emplace_back(name); });
  EXPECT_EQ(names, (std::vector<std::string>{"lo", "eth0", "vethab12"}));
}

TEST(KernelText, FindsWhereDefaultRoutesLead) {
  std::vector<std::string> names;
  for_each_default_route(
      "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
      "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
      "eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n",
      [&](std::string_view name) { names.emplace_back(name); });
  EXPECT_EQ(names, std::vector<std::string>{"eth0"});
}

TEST(KernelText, SumsDisksThatCount) {
  constexpr std::string_view kText =
      "   7       0 loop0 5 0 80 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
      " 254       0 vda 420164 42436 13475082 509882 210224 221297 103089264 449277 0 91324 985377 79622 26 "
      "1 2 3 4\n"
      " 254       1 vda1 1 2 3 4 5 6 7 8 9 10 11\n";
  EXPECT_EQ(sum_disks(kText, only("vda")), (Transfers{.in = 13475082ull * 512, .out = 103089264ull * 512}));
  std::vector<std::string> names;
  for_each_disk(kText, [&](const DiskLine& line) {
    names.push_back(std::string(line.name) + " " + std::string(line.major) + ":" + std::string(line.minor));
  });
  EXPECT_EQ(names, (std::vector<std::string>{"loop0 7:0", "vda 254:0", "vda1 254:1"}));
}

TEST(KernelText, SumsACgroupsTransfersOfEitherVersion) {
  constexpr std::string_view kV1 =
      "254:0 Read 13000000\n254:0 Write 54000000\n254:0 Sync 60000000\n254:0 Async 7000000\n254:0 Discard 5\n"
      "254:0 Total 67000000\n7:0 Read 1\n7:0 Write 2\nTotal 67000003\n";
  EXPECT_EQ(sum_blkio(kV1, only("254:0")), (Transfers{.in = 13000000, .out = 54000000}));
  EXPECT_EQ(sum_blkio(kV1, kAll), (Transfers{.in = 13000001, .out = 54000002}));
  EXPECT_EQ(sum_blkio("Total 0\n", kAll), (Transfers{}));
  constexpr std::string_view kV2 =
      "8:16 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=0 dios=0\n"
      "253:0 rbytes=10 wbytes=20 rios=1 wios=1 dbytes=0 dios=0\n";
  EXPECT_EQ(sum_io_stat(kV2, only("8:16")), (Transfers{.in = 1459200, .out = 314773504}));
  EXPECT_EQ(sum_io_stat("8:0\n8:16 rbytes=5 wbytes=6\n", kAll),
            (Transfers{.in = 5, .out = 6}));  // seen in the wild
  EXPECT_EQ(sum_io_stat("", kAll), (Transfers{}));
}

TEST(KernelText, FindsACountByItsWholeName) {
  constexpr std::string_view kStat =
      "cache 1\ninactive_file_x 3\ninactive_file 2\ntotal_inactive_file 40\nusage_usec 123456789\n";
  EXPECT_EQ(find_count(kStat, "inactive_file"), 2u);
  EXPECT_EQ(find_count(kStat, "total_inactive_file"), 40u);
  EXPECT_EQ(find_count(kStat, "usage_usec"), 123456789u);
  EXPECT_FALSE(find_count(kStat, "nothing"));
}

TEST(KernelText, ReadsOneNumber) {
  EXPECT_EQ(parse_count("42\n"), 42u);
  EXPECT_EQ(parse_count("18446744073709551615"), 18446744073709551615u);
  for (const char* text : {"", "\n", "max\n", "-1\n", "1 2\n", "18446744073709551616", "0x1"})
    EXPECT_FALSE(parse_count(text)) << text;
}

TEST(KernelText, ReadsACpuLimit) {
  EXPECT_EQ(parse_cpu_max("40000 100000\n"), 0.4);
  EXPECT_FALSE(parse_cpu_max("max 100000\n"));
  EXPECT_FALSE(parse_cpu_max("1 0\n"));
}

TEST(KernelText, GivesNothingForATextOfAnotherKind) {
  for (const char* text :
       {"", "\n", "hello", "cpu a b c", "cpu 1 2 3\n", "MemTotal: 1 kB\n", "eth0: 1 2 3\n"}) {
    EXPECT_FALSE(parse_stat(text)) << text;
    EXPECT_FALSE(parse_meminfo(text)) << text;
    EXPECT_FALSE(sum_interfaces(text, kAll)) << text;
  }
  EXPECT_FALSE(sum_interfaces("a\n bytes\n eth0: x\n", kAll));
  EXPECT_FALSE(sum_disks("8 0 sda 1 2 x\n", kAll));
  EXPECT_FALSE(sum_blkio("8:0 Read x\n", kAll));
  EXPECT_FALSE(sum_io_stat("hello\n", kAll));
}

// Every text cut everywhere: numbers or nothing, never a reading past the end.
TEST(KernelText, SurvivesTextsThatAreCut) {
  for (std::size_t length = 0; length <= kNetDev.size(); ++length) {
    const std::string text(kNetDev.substr(0, length));
    (void)sum_interfaces(text, kAll);
    (void)parse_stat(text);
    (void)parse_meminfo(text);
    (void)sum_disks(text, kAll);
    (void)sum_blkio(text, kAll);
    (void)sum_io_stat(text, kAll);
    for_each_interface(text, [](std::string_view) {});
    for_each_default_route(text, [](std::string_view) {});
    for_each_disk(text, [](const DiskLine&) {});
  }
}

}  // namespace
}  // namespace evenkeel::monitor
