#include "reporting/metrics.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <thread>

namespace evenkeel::reporting {
namespace {

TEST(Metrics, AreWrittenAsPrometheusReadsThem) {
  MetricsRegistry registry;
  auto& attempts =
      registry.counters({"scheduler_schedule_attempts_total", "Attempts.", {"profile", "result"}});
  attempts.with({"default", "scheduled"}).add(3);
  attempts.with({"default", "error"}).add();
  registry.gauges({"evenkeel_binds_in_flight", "Now.", {}}).with({}).set(2);
  auto& victims = registry.histograms({"scheduler_preemption_victims", "Victims.", {}}, {1, 2, 4});
  for (const double count : {1, 2, 3, 9}) victims.with({}).observe(count);
  EXPECT_EQ(registry.render(),
            "# HELP evenkeel_binds_in_flight Now.\n"
            "# TYPE evenkeel_binds_in_flight gauge\n"
            "evenkeel_binds_in_flight 2\n"
            "# HELP scheduler_preemption_victims Victims.\n"
            "# TYPE scheduler_preemption_victims histogram\n"
            "scheduler_preemption_victims_bucket{le=\"1\"} 1\n"
            "scheduler_preemption_victims_bucket{le=\"2\"} 2\n"
            "scheduler_preemption_victims_bucket{le=\"4\"} 3\n"
            "scheduler_preemption_victims_bucket{le=\"+Inf\"} 4\n"
            "scheduler_preemption_victims_sum 15\n"
            "scheduler_preemption_victims_count 4\n"
            "# HELP scheduler_schedule_attempts_total Attempts.\n"
            "# TYPE scheduler_schedule_attempts_total counter\n"
            "scheduler_schedule_attempts_total{profile=\"default\",result=\"error\"} 1\n"
            "scheduler_schedule_attempts_total{profile=\"default\",result=\"scheduled\"} 3\n");
}

TEST(Metrics, EscapeWhatLabelsAndHelpHold) {
  MetricsRegistry registry;
  registry.counters({"a_total", "one\ntwo \\ \"three\"", {"name"}}).with({"say \"hi\"\n\\"}).add();
  EXPECT_EQ(registry.render(),
            "# HELP a_total one\\ntwo \\\\ \"three\"\n"
            "# TYPE a_total counter\n"
            "a_total{name=\"say \\\"hi\\\"\\n\\\\\"} 1\n");
}

TEST(Metrics, SpellNumbersExactly) {
  MetricsRegistry registry;
  auto& gauges = registry.gauges({"g", "", {"n"}});
  gauges.with({"a"}).set(0.1);
  gauges.with({"b"}).set(123456789);
  gauges.with({"c"}).set(std::numeric_limits<double>::infinity());
  gauges.with({"d"}).set(std::numeric_limits<double>::quiet_NaN());
  registry.counters({"c_total", "", {}}).with({}).raise_to(18'000'000'000'000'000'001ULL);
  const std::string text = registry.render();
  for (const char* line : {"g{n=\"a\"} 0.1\n", "g{n=\"b\"} 123456789\n", "g{n=\"c\"} +Inf\n",
                           "g{n=\"d\"} NaN\n", "c_total 18000000000000000001\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

TEST(Metrics, CountersNeverFall) {
  Counter counter;
  counter.raise_to(5);
  counter.raise_to(3);
  counter.add();
  EXPECT_EQ(counter.value(), 6U);
}

TEST(Metrics, LayOutBucketsAsKubernetesDoes) {
  const auto bounds = exponential_bounds(0.001, 2, 15);
  EXPECT_EQ(bounds.size(), 15U);
  EXPECT_DOUBLE_EQ(bounds.front(), 0.001);
  EXPECT_DOUBLE_EQ(bounds.back(), 16.384);
}

TEST(Metrics, KeepOnlySoManySeriesApart) {
  MetricsRegistry registry;
  auto& family = registry.counters({"a_total", "", {"from"}});
  for (int i = 0; i < 10'000; ++i) family.with({std::to_string(i)}).add();
  const std::string text = registry.render();
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'),
            static_cast<std::ptrdiff_t>(MetricFamily<Counter>::kMostSeries) + 3);
  EXPECT_NE(text.find("{from=\"other\"} 9500\n"), std::string::npos);
}

TEST(Metrics, ShowNothingOfAFamilyWithoutSeries) {
  MetricsRegistry registry;
  registry.counters({"a_total", "", {"label"}});
  EXPECT_EQ(registry.render(), "");
}

TEST(Metrics, AreReadWhileTheyAreWritten) {
  MetricsRegistry registry;
  Histogram& histogram = registry.histograms({"h", "", {}}, exponential_bounds(1, 2, 10)).with({});
  auto& counters = registry.counters({"c_total", "", {"i"}});
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done) EXPECT_FALSE(registry.render().empty());
  });
  for (int i = 0; i < 100'000; ++i) {
    histogram.observe(i % 1000);
    if (i % 1000 == 0) counters.with({std::to_string(i)}).add();
  }
  done = true;
  reader.join();
  EXPECT_EQ(histogram.read().count, 100'000U);
}

}  // namespace
}  // namespace evenkeel::reporting
