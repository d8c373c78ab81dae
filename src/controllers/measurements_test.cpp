#include "controllers/measurements.h"

#include <gtest/gtest.h>

namespace evenkeel::controllers {
namespace {

const Places kNodes = {{"n1", {}}, {"n2", {}}, {"ip-10-0-0-1.eu.internal", {}}, {"a.destination.b", {}}};

std::map<std::pair<std::string, std::string>, double> taken(const std::map<std::string, std::string>& data,
                                                            int percentile = 90) {
  std::map<std::pair<std::string, std::string>, double> made;
  for (const Measurement& one : read_measurements(data, kNodes, percentile).all)
    made[{one.origin, one.destination}] = one.milliseconds;
  return made;
}

TEST(Measurements, ReadsBothSpellingsOfUpstreamAndBothUnits) {
  const auto found = taken({{"netperf.p90.latency.milliseconds.origin.n1.destination.n2", "60"},
                            {"netperf_p90_latency_microseconds.origin.n2.destination.n1", "1250.5"},
                            {"netperf.p50.latency.milliseconds.origin.n1.destination.n2", "3"},
                            {"something.else", "7"}});
  EXPECT_EQ(found.size(), 2U);
  EXPECT_DOUBLE_EQ(found.at({"n1", "n2"}), 60);
  EXPECT_DOUBLE_EQ(found.at({"n2", "n1"}), 1.2505);
}

TEST(Measurements, TakesTheFinerUnitAndTheOnePercentileAskedFor) {
  const std::map<std::string, std::string> data = {
      {"netperf.p99.latency.milliseconds.origin.n1.destination.n2", "4"},
      {"netperf_p99_latency_microseconds.origin.n1.destination.n2", "3700"}};
  EXPECT_DOUBLE_EQ(taken(data, 99).at({"n1", "n2"}), 3.7);
  EXPECT_TRUE(taken(data, 50).empty());
  EXPECT_TRUE(read_measurements(data, kNodes, 50).has_other_percentiles);
}

TEST(Measurements, CutsKeysWhereBothSidesAreNodesThatExist) {
  const auto found =
      taken({{"netperf.p90.latency.milliseconds.origin.ip-10-0-0-1.eu.internal.destination.n1", "2"},
             {"netperf.p90.latency.milliseconds.origin.a.destination.b.destination.n2", "5"},
             {"netperf.p90.latency.milliseconds.origin.n2.destination.a.destination.b", "6"}});
  EXPECT_EQ(found.at({"ip-10-0-0-1.eu.internal", "n1"}), 2);
  EXPECT_EQ(found.at({"a.destination.b", "n2"}), 5);
  EXPECT_EQ(found.at({"n2", "a.destination.b"}), 6);
}

TEST(Measurements, CountsWhatIsNoLatencyAndWhatIsAboutNobody) {
  const std::string key = "netperf.p90.latency.milliseconds.origin.";
  const Measurements found = read_measurements({{key + "n1.destination.n2", "fast"},
                                                {key + "n2.destination.n1", "-1"},
                                                {key + "n1.destination.a.destination.b", "1e300"},
                                                {key + "n1.destination.gone", "3"},
                                                {key + "n1.destination.n1", "3"},
                                                {key + "n1", "3"}},
                                               kNodes, 90);
  EXPECT_TRUE(found.all.empty());
  EXPECT_EQ(found.unreadable.size(), 3U);
  EXPECT_EQ(found.unknown_nodes, 2U);
}

}  // namespace
}  // namespace evenkeel::controllers
