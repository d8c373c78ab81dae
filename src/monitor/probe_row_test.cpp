#include "monitor/probe_row.h"

#include <gtest/gtest.h>

#include <numeric>

namespace evenkeel::monitor {
namespace {

using namespace std::chrono_literals;

constexpr const char* kDotted = "netperf.p90.latency.milliseconds.origin.n1.destination.n2";
constexpr const char* kFine = "netperf_p90_latency_microseconds.origin.n1.destination.n2";

ProbeRow::Bounds at_most(std::size_t paths) { return {.most_paths = paths, .keep = 24h}; }

TEST(ProbeRow, KnowsPercentilesByNearestRank) {
  std::vector<double> samples(100);
  std::iota(samples.rbegin(), samples.rend(), 1.0);
  const auto figures = figures_of(samples);
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures->p50_us, 50);
  EXPECT_EQ(figures->p90_us, 90);
  EXPECT_EQ(figures->p99_us, 99);
  EXPECT_EQ(figures_of({7.0})->p99_us, 7);
  EXPECT_FALSE(figures_of({}));
}

TEST(ProbeRow, WritesUpstreamsKeysInBothSpellings) {
  const auto entries =
      entries_of("n1", "n2", {.p50_us = 400, .p90_us = 60'400.25, .p99_us = 70'600, .bits_per_second = 1e9});
  EXPECT_EQ(entries.size(), 7U);
  EXPECT_EQ(entries.at(kDotted), "60");
  EXPECT_EQ(entries.at(kFine), "60400.2");
  EXPECT_EQ(entries.at("netperf.p50.latency.milliseconds.origin.n1.destination.n2"), "1")
      << "0 would be a link that costs nothing";
  EXPECT_EQ(entries.at("netperf.p99.latency.milliseconds.origin.n1.destination.n2"), "71");
  EXPECT_EQ(entries.at("netperf.bandwidth.bitspersecond.origin.n1.destination.n2"), "1000000000");
}

TEST(ProbeRow, ChangesOnlyWhatWasMeasuredSinceTheLastTime) {
  ProbeRow row("n1");
  row.measured("n2", {.p50_us = 1, .p90_us = 2000, .p99_us = 3, .bits_per_second = {}}, Time(1s));
  const ConfigChanges first = row.changes(at_most(10), Time(1s));
  EXPECT_EQ(first.size(), 6U);
  EXPECT_EQ(first.at(kDotted), "2");
  EXPECT_TRUE(row.changes(at_most(10), Time(2s)).empty());
  row.not_written(first);
  EXPECT_EQ(row.changes(at_most(10), Time(2s)), first);
}

TEST(ProbeRow, WhatCouldNotBeWrittenGivesWayToWhatIsNewer) {
  ProbeRow row("n1");
  row.measured("n2", {.p50_us = 1, .p90_us = 2000, .p99_us = 3, .bits_per_second = {}}, Time(1s));
  const ConfigChanges lost = row.changes(at_most(10), Time(1s));
  row.measured("n2", {.p50_us = 1, .p90_us = 9000, .p99_us = 3, .bits_per_second = {}}, Time(2s));
  row.not_written(lost);
  EXPECT_EQ(row.changes(at_most(10), Time(2s)).at(kDotted), "9");
}

TEST(ProbeRow, TheOldestGiveWayWhereThereIsNoRoom) {
  ProbeRow row("n1");
  row.measured("n3", {.p50_us = 1, .p90_us = 1, .p99_us = 1, .bits_per_second = {}}, Time(1s));
  row.measured("n2", {.p50_us = 1, .p90_us = 1, .p99_us = 1, .bits_per_second = {}}, Time(2s));
  const ConfigChanges changes = row.changes(at_most(1), Time(3s));
  EXPECT_EQ(changes.at(kDotted), "1");
  EXPECT_EQ(changes.at("netperf.p90.latency.milliseconds.origin.n1.destination.n3"), std::nullopt);
  EXPECT_EQ(row.paths().size(), 1U);
}

TEST(ProbeRow, ForgetsWhatNobodyMeasuresAnyMore) {
  ProbeRow row("n1");
  row.found({kDotted, kFine, "somebody.elses", "netperf.p90.latency.milliseconds.origin.n2.destination.n1"},
            {"n1", "n2"}, Time(0s));
  EXPECT_EQ(row.paths().size(), 1U);
  EXPECT_TRUE(row.changes(at_most(10), Time(23h)).empty());
  const ConfigChanges changes = row.changes(at_most(10), Time(25h));
  EXPECT_EQ(changes.size(), 7U);
  EXPECT_EQ(changes.at(kDotted), std::nullopt);
}

TEST(ProbeRow, ForgetsPathsToNodesThatAreGone) {
  ProbeRow row("n1");
  row.measured("n2", {.p50_us = 1, .p90_us = 1, .p99_us = 1, .bits_per_second = {}}, Time(1s));
  (void)row.changes(at_most(10), Time(1s));
  row.keep_only({"n1", "n2"});
  EXPECT_TRUE(row.changes(at_most(10), Time(1s)).empty());
  row.keep_only({"n1"});
  EXPECT_EQ(row.changes(at_most(10), Time(1s)).at(kDotted), std::nullopt);
}

TEST(ProbeRow, KeepsTheLastBandwidthUntilThereIsAnother) {
  ProbeRow row("n1");
  row.measured("n2", {.p50_us = 1, .p90_us = 1, .p99_us = 1, .bits_per_second = 5e6}, Time(1s));
  row.measured("n2", {.p50_us = 1, .p90_us = 1, .p99_us = 1, .bits_per_second = {}}, Time(2s));
  EXPECT_EQ(row.paths().at("n2").figures->bits_per_second, 5e6);
}

TEST(ProbeRow, OrphansAreKeysOfNodesThatAreGone) {
  const std::string to_gone = "netperf.p90.latency.milliseconds.origin.n1.destination.n9";
  const std::string from_gone = "netperf_p50_latency_microseconds.origin.n9.destination.n1";
  const std::vector<std::string> keys = {kDotted, to_gone, from_gone, "note",
                                         "other.origin.n9.destination.n8"};
  const std::set<std::string> nodes = {"n1", "n2"};
  EXPECT_EQ(orphans(keys, nodes, "n1"), std::vector{to_gone});
  EXPECT_EQ(orphans(keys, nodes, ""), (std::vector{to_gone, from_gone}));
}

TEST(ProbeRow, ANodeWhoseNameLooksLikeASeparatorIsNoOrphan) {
  const std::string odd = "a.destination.b";
  const std::vector<std::string> keys = {"netperf.p90.latency.milliseconds.origin." + odd + ".destination.c"};
  EXPECT_TRUE(orphans(keys, {odd, "c"}, "").empty());
  EXPECT_EQ(orphans(keys, {"a", "c"}, "").size(), 1U);
}

TEST(ProbeRow, NamesThatDoNotFitInAKeyAreKnown) {
  EXPECT_TRUE(fits_in_a_key(std::string(90, 'a'), std::string(90, 'b')));
  EXPECT_FALSE(fits_in_a_key(std::string(120, 'a'), std::string(120, 'b')));
}

std::vector<ProbeMember> nodes_in_zones(int count, int zones) {
  std::vector<ProbeMember> members;
  for (int i = 0; i < count; ++i)
    members.push_back({"node-" + std::to_string(i), "r", "z" + std::to_string(i % zones)});
  return members;
}

TEST(ProbeRow, RefusesWhatAConfigMapCannotHoldAndSaysWhatWouldFit) {
  EXPECT_TRUE(most_paths_of(nodes_in_zones(32, 4), ProbeMode::full));
  const auto refused = most_paths_of(nodes_in_zones(1000, 10), ProbeMode::full);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("use mode zones"), std::string::npos) << refused.error().message;
  EXPECT_TRUE(most_paths_of(nodes_in_zones(1000, 10), ProbeMode::zones));
  const auto few = most_paths_of(nodes_in_zones(1000, 10), ProbeMode::basic);
  ASSERT_TRUE(few);
  EXPECT_EQ(*few, 1U) << "each node keeps its latest path";
  EXPECT_FALSE(most_paths_of(nodes_in_zones(5000, 10), ProbeMode::basic));
}

}  // namespace
}  // namespace evenkeel::monitor
