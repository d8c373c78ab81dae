#include "autoscaling/replica_calculator.h"

#include <gtest/gtest.h>

#include "autoscaling/test_services.h"

namespace evenkeel::autoscaling {
namespace {

using namespace std::chrono_literals;
using Kind = MetricTarget::Kind;
using Source = MetricTarget::Source;

std::optional<std::int32_t> proposed(const ScalerSpec& spec, const ServiceReport& report) {
  return propose_replicas(spec, report, report.wanted, kNow, {}).replicas;
}

TEST(ReplicaCalculator, ScalesInProportionToUtilisation) {
  EXPECT_EQ(proposed(test_spec(), test_report({0.8, 0.8, 0.8})), 5);  // 160 % of the target: 4.8
  EXPECT_EQ(proposed(test_spec(), test_report({0.2, 0.2, 0.2})), 2);
  EXPECT_EQ(proposed(test_spec(), test_report({0.9, 0.5, 0.1})), 3);  // as a whole it is right
}

TEST(ReplicaCalculator, CountsWholePercents) {
  // 55.9 % of the request counts as 55, which is exactly what the tolerance still holds.
  EXPECT_EQ(proposed(test_spec(), test_report({0.559, 0.559})), 2);
  EXPECT_EQ(proposed(test_spec(), test_report({0.56, 0.56})), 3);
}

TEST(ReplicaCalculator, LeavesWhatIsWithinTheTolerance) {
  EXPECT_EQ(proposed(test_spec(), test_report({0.55, 0.55})), 2);
  EXPECT_EQ(proposed(test_spec(), test_report(std::vector<double>(20, 0.45))), 20);
  EXPECT_EQ(proposed(test_spec(), test_report(std::vector<double>(20, 0.44))), 18);
}

TEST(ReplicaCalculator, TakesTheToleranceOfEachDirectionFromTheBehaviour) {
  ScalerSpec spec = test_spec();
  spec.behaviour.emplace();
  spec.behaviour->up.tolerance = 0.5;
  spec.behaviour->down.tolerance = 0.0;
  EXPECT_EQ(proposed(spec, test_report({0.7, 0.7})), 2);
  EXPECT_EQ(proposed(spec, test_report(std::vector<double>(20, 0.47))), 19);
}

TEST(ReplicaCalculator, TakesMissingPodsForIdleOnTheWayUp) {
  ServiceReport report = test_report({1, 1, 1, 1});
  report.replicas[3].samples[0].reset();
  EXPECT_EQ(proposed(test_spec(), report), 6);  // 3 cores over 4 pods: 75 % of 50
  report = test_report({0.7, 0.7, 0.7, 0.7});
  report.replicas[3].samples[0].reset();
  EXPECT_EQ(proposed(test_spec(), report), 4);  // 52 %: no longer worth it
}

TEST(ReplicaCalculator, TakesMissingPodsForFullyUsedOnTheWayDown) {
  ServiceReport report = test_report({0.1, 0.1, 0.1, 0.1});
  report.replicas[3].samples[0].reset();
  EXPECT_EQ(proposed(test_spec(), report), 3);  // 32 %
  report = test_report({0.4, 0.4, 0.4, 0.4});
  report.replicas[3].samples[0].reset();
  EXPECT_EQ(proposed(test_spec(), report), 4);  // 55 %: it would turn round
}

TEST(ReplicaCalculator, NeedsTheRequestsOfPodsItHasNoSampleOf) {
  ServiceReport report = test_report({0.1, 0.1});
  report.replicas[1].samples[0].reset();
  report.replicas[1].requests = {4};  // its siblings' would be 1
  EXPECT_EQ(proposed(test_spec(), report), 2);
  report.replicas[1].requests = {0};
  EXPECT_EQ(proposed(test_spec(), report), std::nullopt);
}

TEST(ReplicaCalculator, IgnoresPodsThatLeaveOrFailed) {
  ServiceReport report = test_report({1, 1, 0, 0});
  report.replicas[2].leaves = true;
  report.replicas[3].phase = ReplicaReport::Phase::failed;
  EXPECT_EQ(proposed(test_spec(), report), 4);
}

TEST(ReplicaCalculator, TakesPendingPodsForIdleOnTheWayUpAndForgetsThemOnTheWayDown) {
  ServiceReport report = test_report({1, 1, 0});
  report.replicas[2].phase = ReplicaReport::Phase::pending;
  report.replicas[2].samples[0].reset();
  EXPECT_EQ(proposed(test_spec(), report), 4);  // 66 % over three
  report = test_report({0.1, 0.1, 0});
  report.replicas[2].phase = ReplicaReport::Phase::pending;
  EXPECT_EQ(proposed(test_spec(), report), 1);
}

TEST(ReplicaCalculator, MistrustsTheProcessorUseOfPodsThatStart) {
  ServiceReport report = test_report({1, 1, 0.5, 0.5});
  for (const int i : {0, 1}) {
    report.replicas[static_cast<std::size_t>(i)].started = kNow - 2min;
    report.replicas[static_cast<std::size_t>(i)].ready = false;
    report.replicas[static_cast<std::size_t>(i)].ready_changed = kNow - 2min;
  }
  EXPECT_EQ(proposed(test_spec(), report), 4);  // the other two are right
  // Ready, but its sample began before it was.
  for (const std::size_t i : {0U, 1U}) {
    report.replicas[i].ready = true;
    report.replicas[i].ready_changed = kNow - 10s;
  }
  EXPECT_EQ(proposed(test_spec(), report), 4);
  for (const std::size_t i : {0U, 1U}) report.replicas[i].ready_changed = kNow - 15s;
  EXPECT_EQ(proposed(test_spec(), report), 6);
}

TEST(ReplicaCalculator, TrustsALongStartedPodThatWasReadyOnce) {
  ServiceReport report = test_report({1, 0.5});
  report.replicas[0].ready = false;
  report.replicas[0].ready_changed =
      *report.replicas[0].started + 31s;  // it was, later than 30 s after its start
  EXPECT_EQ(proposed(test_spec(), report), 3);
  report.replicas[0].ready_changed = *report.replicas[0].started + 29s;  // it never was
  EXPECT_EQ(proposed(test_spec(), report), 2);
}

TEST(ReplicaCalculator, CountsMemoryOfPodsThatAreNotReady) {
  ScalerSpec spec = test_spec();
  spec.metrics[0].name = "memory";
  ServiceReport report = test_report({1, 1});
  report.replicas[0].ready = false;
  EXPECT_EQ(proposed(spec, report), 4);
}

TEST(ReplicaCalculator, KeepsAverages) {
  ScalerSpec spec = test_spec();
  spec.metrics = {{.source = Source::pods, .name = "requests", .kind = Kind::average_value, .target = 10}};
  EXPECT_EQ(proposed(spec, test_report({20, 30, 10})), 6);
  ServiceReport report = test_report({1, 1, 1, 1});
  report.replicas[0].samples[0].reset();  // counts as exactly the target
  EXPECT_EQ(proposed(spec, report), 2);
}

TEST(ReplicaCalculator, KeepsAnAmountOfTheWholeInProportionToReadyPods) {
  ScalerSpec spec = test_spec();
  spec.metrics = {{.source = Source::object, .name = "queue", .kind = Kind::value, .target = 100}};
  ServiceReport report = test_report({0, 0, 0});
  report.amounts = {ServiceReport::Amount{200, kNow}};
  EXPECT_EQ(proposed(spec, report), 6);
  report.replicas[0].ready = false;
  EXPECT_EQ(proposed(spec, report), 4);
  report = {.measured = kNow};
  report.amounts = {ServiceReport::Amount{250, kNow}};
  EXPECT_EQ(proposed(spec, report), 3);  // from nothing: the ratio itself
}

TEST(ReplicaCalculator, SharesAnAmountOfTheWholeAmongThePodsThatAreThere) {
  ScalerSpec spec = test_spec();
  spec.metrics = {{.source = Source::external, .name = "queue", .kind = Kind::average_value, .target = 50}};
  ServiceReport report = test_report({0, 0});
  report.amounts = {ServiceReport::Amount{420, kNow}};
  EXPECT_EQ(proposed(spec, report), 9);
  report.amounts = {ServiceReport::Amount{105, kNow}};
  EXPECT_EQ(proposed(spec, report), 2);
}

TEST(ReplicaCalculator, TakesTheMostOfSeveralMetricsAndNeverLessWhileOneIsUnknown) {
  ScalerSpec spec = test_spec();
  spec.metrics.push_back(
      {.source = Source::external, .name = "queue", .kind = Kind::average_value, .target = 50});
  ServiceReport report = test_report({0.1, 0.1, 0.1, 0.1});
  report.amounts = {std::nullopt, ServiceReport::Amount{1000, kNow}};
  EXPECT_EQ(proposed(spec, report), 20);
  report.amounts = {};
  EXPECT_EQ(proposed(spec, report), std::nullopt);  // CPU alone would take some away
  const ReplicaProposal up = propose_replicas(spec, test_report({1, 1}), 2, kNow, {});
  EXPECT_EQ(up.replicas, 4);
  EXPECT_NE(up.problem.find("queue"), std::string::npos);
}

TEST(ReplicaCalculator, SaysWhyNothingCanBeTold) {
  EXPECT_EQ(proposed(test_spec(), test_report({})), std::nullopt);
  ServiceReport report = test_report({1});
  report.replicas[0].samples.clear();
  const ReplicaProposal none = propose_replicas(test_spec(), report, 1, kNow, {});
  EXPECT_FALSE(none.replicas);
  EXPECT_NE(none.problem.find("cpu"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::autoscaling
