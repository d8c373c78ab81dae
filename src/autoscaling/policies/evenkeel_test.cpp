#include "autoscaling/policies/evenkeel.h"

#include <gtest/gtest.h>

#include <numbers>

#include "autoscaling/policies/hpa.h"
#include "autoscaling/policies/test_service.h"

namespace evenkeel::autoscaling {
namespace {

// Two hours in a sine of half an hour, from a third of the work of five pods to nearly all of it.
double wave(int step) { return 150 + 75 * std::sin(2 * std::numbers::pi * step / 120.0); }

bool says(const Recommendation& answer, std::string_view rule, std::string_view part) {
  for (const ScalingReason& reason : answer.reasons)
    if (reason.rule == rule && reason.text.find(part) != std::string::npos) return true;
  return false;
}

TEST(Evenkeel, IsUnableUntilItKnowsWhatARequestCosts) {
  Evenkeel policy;
  TestService service(3);
  const Recommendation first = service.step(60, policy);
  EXPECT_NE(first.unable.find("not known yet"), std::string::npos) << first.unable;
  for (int i = 0; i < 10; ++i) service.step(60, policy);
  EXPECT_TRUE(service.step(60, policy).unable.empty());
}

TEST(Evenkeel, IsUnableWithoutARate) {
  Evenkeel policy;
  TestService service(3);
  for (int i = 0; i < 10; ++i) service.step(60, policy);
  const ScalerSpec spec = TestService::own_spec();
  const ServiceReport report = test_report({0.2, 0.2}, service.now());
  Random random(1);
  const Recommendation answer = policy.recommend({{}, spec, report, {}, {}, 2, service.now()}, random);
  EXPECT_EQ(answer.unable, "the request rate is not known");
}

TEST(Evenkeel, LearnsWhatAPodServesAndSaysSo) {
  Evenkeel policy;
  TestService service(4);
  Recommendation answer;
  for (int i = 0; i < 80; ++i) answer = service.step(100 + i % 7, policy);
  EXPECT_NEAR(policy.service_rate().per_pod(0.5), 50, 1.5);
  EXPECT_TRUE(says(answer, "service", "a pod")) << answer.reasons.front().text;
  EXPECT_TRUE(says(answer, "forecast", "p95"));
  EXPECT_TRUE(says(answer, "level", "needs"));
}

TEST(Evenkeel, KeepsEnoughForASteadyRateAndNoMore) {
  Evenkeel policy;
  TestService service(8);
  for (int i = 0; i < 200; ++i) service.step(110, policy);
  // Three pods are 73 % busy and just within the bound; two cannot serve it.
  EXPECT_GE(service.wanted(), 3);
  EXPECT_LE(service.wanted(), 4);
  service.forget_figures();
  for (int i = 0; i < 100; ++i) service.step(110, policy);
  EXPECT_EQ(service.violation(), 0);
}

TEST(Evenkeel, NeverGoesBelowWhatTheLevelNeeds) {
  Evenkeel policy;
  TestService service(5);
  for (int i = 0; i < 600; ++i) {
    const Recommendation answer = service.step(wave(i), policy);
    if (!answer.unable.empty()) continue;
    // By the rate there is, pods that are recommended can at least keep up.
    EXPECT_GE(answer.replicas * TestService::kPerPod, 0.9 * wave(i)) << "step " << i;
  }
}

// HPA's 70 % is next to the bound of a queue that is as slow as this one: it has fewer pods there, and
// violations.
TEST(Evenkeel, KeepsALevelThatHpaDoesNotKeepForLittleMore) {
  Evenkeel evenkeel;
  Hpa hpa{CalculatorOptions{}};
  TestService ours(5), theirs(5);
  for (int i = 0; i < 1500; ++i) {
    ours.step(wave(i), evenkeel);
    theirs.step(wave(i), hpa);
    if (i == 500) {  // once it has adapted
      ours.forget_figures();
      theirs.forget_figures();
    }
  }
  EXPECT_GT(theirs.violation(), 0.02);
  EXPECT_LT(ours.violation(), 0.5 * theirs.violation());
  EXPECT_LT(ours.replicas(), 1.15 * theirs.replicas());
}

TEST(Evenkeel, OrdersMoreForABacklog) {
  Evenkeel calm, pressed;
  TestService a(3), b(3);
  b.spec().max_replicas = 6;
  for (int i = 0; i < 60; ++i) {
    a.step(90, calm);
    b.step(90, pressed);
  }
  // A quarter of a minute of far too much leaves a queue behind; then the rate is as before.
  b.step(600, pressed);
  const Recommendation after = b.step(90, pressed);
  EXPECT_GT(b.backlog(), 0);
  EXPECT_GT(after.replicas, a.step(90, calm).replicas);
}

TEST(Evenkeel, KeepsToTheWindowTheOwnerSaid) {
  ScalerSpec spec = TestService::own_spec();
  spec.behaviour.emplace();  // HPA's defaults, said out loud
  Evenkeel policy;
  TestService service(5, spec);
  for (int i = 0; i < 1000; ++i) service.step(wave(i), policy);
  EXPECT_LE(policy.manners().chosen_tally().scalings, policy.manners().hpa_tally().scalings);
}

TEST(Evenkeel, IsTakenUpWhereItWasPutAway) {
  Evenkeel first;
  TestService service(4);
  for (int i = 0; i < 400; ++i) service.step(wave(i), first);
  const std::string bytes = first.save().bytes();
  EXPECT_LT(bytes.size(), 64U * 1024);
  Evenkeel second;
  ASSERT_TRUE(second.restore(*learning::SavedState::parse(bytes)));
  EXPECT_TRUE(service.step(wave(400), second).unable.empty());
  EXPECT_EQ(second.service_rate().per_core(), first.service_rate().per_core());
  EXPECT_EQ(second.manners().chosen().margin, first.manners().chosen().margin);
}

TEST(Evenkeel, RefusesAStateThatIsNotItsOwn) {
  learning::SavedState state;
  state.put_text("policy", "a-sarsa");
  Evenkeel policy;
  EXPECT_FALSE(policy.restore(state));
}

TEST(Evenkeel, RefusesArgumentsItCannotRead) {
  EXPECT_TRUE(Evenkeel::make(
      {{"margin", "0.03"}, {"reserve", "1.4"}, {"band", "0.07"}, {"window", "60"}, {"adapt", "false"}}));
  for (const auto& wrong : {std::pair<std::string, std::string>{"margin", "0.21"},
                            {"adapt", "yes"},
                            {"window", "a while"},
                            {"courage", "1"}}) {
    const auto made = Evenkeel::make({wrong});
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message.find(wrong.first), std::string::npos) << made.error().message;
  }
}

}  // namespace
}  // namespace evenkeel::autoscaling
