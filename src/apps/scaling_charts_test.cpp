#include "apps/scaling_charts.h"

#include <gtest/gtest.h>

namespace evenkeel::apps {
namespace {

using training::PolicyResult;

PolicyResult with(const std::string& policy, double replicas) {
  training::RunResult run;
  run.metrics = {{"replicas_mean", replicas}, {"sla_violation", 0.0125}};
  return {policy, false, {run}};
}

TEST(FrontChart, JoinsThePointsOfAFamilyFromLeftToRight) {
  const auto chart = front_chart("weeks", {with("hpa", 10), with("hpa+target=80", 9), with("evenkeel", 8)});
  EXPECT_EQ(chart.title, "weeks");
  EXPECT_EQ(chart.x.label, "replicas, mean");
  ASSERT_EQ(chart.lines.size(), 2U);
  ASSERT_EQ(chart.lines[0].points.size(), 2U);
  EXPECT_EQ(chart.lines[0].points[0].x, 9);
}

TEST(FrontChart, TellsBelowTheAxisWhoIsFarOffToTheRight) {
  const auto chart = front_chart("weeks", {with("hpa", 10), with("hpa+target=20", 30)});
  EXPECT_EQ(chart.title, "weeks");
  EXPECT_EQ(chart.x.label, "replicas, mean; off to the right: hpa+target=20 (30, 1.25 %)");
  ASSERT_EQ(chart.lines.size(), 1U);
  EXPECT_EQ(chart.lines[0].points.size(), 1U);
}

TEST(FrontChart, NamesNoMoreOfThemThanThereIsRoomFor) {
  std::vector<PolicyResult> policies = {with("hpa", 10)};
  for (int target = 20; target < 30; ++target)
    policies.push_back(with("hpa+target=" + std::to_string(target), 30));
  const std::string label = front_chart("weeks", policies).x.label;
  EXPECT_LE(label.size(), 115U);
  EXPECT_NE(label.find("hpa+target=20 (30, 1.25 %), hpa+target=21 (30, 1.25 %) and 8 more"),
            std::string::npos)
      << label;
}

}  // namespace
}  // namespace evenkeel::apps
