#include "simulator/service_scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace evenkeel::simulator {
namespace {

using namespace std::chrono_literals;

Result<ServiceScenario> read(const std::string& text, std::vector<std::string> overrides = {}) {
  auto file = YamlFile::parse("apiVersion: evenkeel.io/v1alpha1\nkind: ScalingScenario\nname: test\n" + text,
                              "test.yaml");
  EXPECT_TRUE(file);
  for (const std::string& assignment : overrides) EXPECT_TRUE(file->set(assignment));
  YamlReader root(*file);
  return read_service_scenario(root);
}

const std::string kPlain = R"(
services: [{name: web, requests_per_s: 50, cpu: 500m, scaler: {max: 8, target: 0.6}}]
workload: {peak: 250, made: {length: 1d, daily: 0.5, noise: {spread: 0.1}}}
)";

TEST(ServiceScenario, BringsThePeakToWhereItIsAsked) {
  const auto scenario = read(kPlain, {"workload.peak_quantile=1"});
  ASSERT_TRUE(scenario) << scenario.error().message;
  const ServiceWorldPlan plan = expand(*scenario, 1);
  EXPECT_EQ(plan.length, Duration{24h});
  EXPECT_NEAR(*std::max_element(plan.rates->per_s.begin(), plan.rates->per_s.end()), 250, 1e-3);
  EXPECT_NEAR(plan.services[0].requests_per_s(), 50, 1e-9);
  EXPECT_EQ(plan.services[0].scaler.max_replicas, 8);
  EXPECT_DOUBLE_EQ(plan.services[0].scaler.metrics[0].target, 0.6);
  EXPECT_NE(expand(*scenario, 2).rates->per_s, plan.rates->per_s);
  EXPECT_EQ(expand(*scenario, 1).rates->per_s, plan.rates->per_s);
}

TEST(ServiceScenario, CompressesTimeAndScalesRates) {
  const auto scenario = read(
      kPlain, {"workload.compress=12", "workload.scale=2", "workload.from=6h", "workload.peak_quantile=1"});
  ASSERT_TRUE(scenario) << scenario.error().message;
  const ServiceWorldPlan plan = expand(*scenario, 1);
  EXPECT_EQ(plan.length, Duration{90min});
  EXPECT_NEAR(*std::max_element(plan.rates->per_s.begin(), plan.rates->per_s.end()), 500, 1e-3);
}

TEST(ServiceScenario, IsNotScaledByASpike) {
  const auto highest = [](const Result<ServiceScenario>& scenario, double quantile) {
    std::vector<float> rates = expand(*scenario, 1).rates->per_s;
    std::sort(rates.begin(), rates.end());
    return rates[std::min(rates.size() - 1,
                          static_cast<std::size_t>(quantile * static_cast<double>(rates.size())))];
  };
  const std::string burst = "workload.made.bursts={per_hour: 0.04, height: 30, length: 1m}";
  const auto scenario = read(kPlain, {burst});
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_NEAR(highest(scenario, 0.99), 250, 1e-3);
  EXPECT_GT(highest(scenario, 1), 1000);  // the spike stays as high as it was
  EXPECT_NEAR(highest(read(kPlain, {burst, "workload.most=600"}), 1), 600, 1e-3);
  EXPECT_NEAR(highest(read(kPlain, {burst, "workload.most=600", "workload.scale=2"}), 1), 1200, 1e-3);
}

TEST(ServiceScenario, SaysWhatItDoesNotUnderstand) {
  EXPECT_FALSE(read("services: [{name: web, colour: red}]\n"));
  EXPECT_FALSE(read("services: []\n"));
  const auto circle = read("services: [{name: a}, {name: b, calls: [{to: a}]}]\n");
  ASSERT_FALSE(circle);
  EXPECT_NE(circle.error().message.find("further down"), std::string::npos);
  EXPECT_FALSE(read(kPlain, {"workload.trace=/nowhere/at/all.csv"}));
}

TEST(RequestGenerator, HasDaysWeekendsAndCrowds) {
  RequestShape shape;
  shape.length = 14 * 24h;
  shape.daily = 0.5;
  shape.weekend = 0.5;
  const RequestRates calm = make_requests(shape, Random(1));
  ASSERT_EQ(calm.per_s.size(), 14U * 24 * 60);
  const auto day = [&](const RequestRates& rates, int which) {
    const auto from = rates.per_s.begin() + static_cast<std::ptrdiff_t>(which) * 24 * 60;
    return std::accumulate(from, from + 24 * 60, 0.0);
  };
  EXPECT_NEAR(day(calm, 5), day(calm, 4) / 2, 1);
  EXPECT_NEAR(calm.per_s[15 * 60], 1.5, 0.01);
  shape.events.per_day = 2;
  shape.events.height = 1;
  const RequestRates crowded = make_requests(shape, Random(1));
  EXPECT_GT(day(crowded, 1), 1.1 * day(calm, 1));
}

}  // namespace
}  // namespace evenkeel::simulator
