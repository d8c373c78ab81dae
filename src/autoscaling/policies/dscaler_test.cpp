#include "autoscaling/policies/dscaler.h"

#include <gtest/gtest.h>

#include "autoscaling/policies/a_sarsa.h"
#include "autoscaling/policies/test_service.h"

namespace evenkeel::autoscaling {
namespace {

DScalerSettings quick() {
  DScalerSettings settings;
  settings.dqn.epsilon_steps = 600;
  settings.ranges = {10, 250};
  settings.every = std::chrono::seconds{15};
  return settings;
}

TEST(DScaler, IsThePapersNetwork) {
  const learning::DqnOptions dqn = DScalerSettings::published();
  EXPECT_EQ(dqn.hidden, (std::vector<int>{32, 16}));
  EXPECT_EQ(dqn.discount, 0.9);
  EXPECT_EQ(dqn.replay.capacity, 160U);
  EXPECT_EQ(dqn.target_every, 100U);
  EXPECT_GT(dqn.epsilon_start, dqn.epsilon_end);
  EXPECT_EQ(DScalerSettings{}.penalty, -2);
}

TEST(DScaler, RewardsUtilisationAndShortResponses) {
  EXPECT_NEAR(dscaler_reward(0.6, 0.125, 0.25, -2), 0.6 + 1 / 1.5, 1e-12);
  EXPECT_NEAR(dscaler_reward(0.6, 0.25, 0.25, -2), 0.6 - 2, 1e-12);
}

TEST(DScaler, SeesSharesOfItsRanges) {
  ServiceFacts facts;
  facts.ready = 5;
  facts.cores = 0.25;
  facts.request = 0.5;
  facts.measured = 5;
  facts.requests_per_s = 2000;
  EXPECT_EQ(dscaler_state(facts, {10, 1000}), (DScalerState{0.5, 0.5, 1}));
}

TEST(DScaler, StaysWithinStepsOfTwoAndTheBounds) {
  DScaler policy(quick());
  TestService service(1);
  service.spec().max_replicas = 4;
  for (int i = 0; i < 300; ++i) {
    const std::int32_t before = service.wanted();
    const Recommendation answer = service.step(80, policy);
    if (!answer.unable.empty()) continue;
    EXPECT_LE(std::abs(answer.replicas - before), 2);
    EXPECT_GE(answer.replicas, 1);
    EXPECT_LE(answer.replicas, 4);
  }
  EXPECT_GT(policy.progress().updates, 200U);
}

TEST(DScaler, LearnsNotToViolate) {
  DScaler policy(quick());
  TestService service(2);
  for (int i = 0; i < 1500; ++i) service.step(110, policy);
  service.forget_figures();
  for (int i = 0; i < 500; ++i) service.step(110, policy);
  EXPECT_LT(service.violation(), 0.2);
}

TEST(DScaler, WaitsForWhatADecisionLeadsTo) {
  DScaler policy(DScalerSettings{});
  TestService service(5);
  int changes = 0;
  for (int i = 0; i < 240; ++i) {
    const std::int32_t before = service.wanted();
    const Recommendation answer = service.step(100, policy);
    if (answer.unable.empty() && answer.replicas != before) ++changes;
  }
  EXPECT_GT(changes, 10);
  EXPECT_LE(changes, 60);  // an hour
  EXPECT_LE(policy.progress().rewards, 60U);
}

TEST(DScaler, ExploresUpwardsOnlyWhereItIsTold) {
  const auto policy = DScaler::make({{"explore", "up"}, {"every", "15s"}}, nullptr);
  ASSERT_TRUE(policy);
  TestService service(4);
  for (int i = 0; i < 50; ++i) {
    const Recommendation answer = service.step(100, **policy);
    EXPECT_TRUE(!answer.unable.empty() || answer.unexplored.has_value());
  }
}

TEST(DScaler, GoesOnFromItsModel) {
  DScaler trained(quick());
  TestService service(3);
  for (int i = 0; i < 100; ++i) service.step(100, trained);
  const learning::Model model = trained.model();
  const auto frozen = DScaler::make({{"frozen", "true"}}, &model);
  ASSERT_TRUE(frozen) << frozen.error().message;
  EXPECT_EQ((*frozen)->model().networks, model.networks);
  EXPECT_EQ((*frozen)->model().normalisation, model.normalisation);

  learning::Model other = model;
  other.encoding = "evenkeel";
  EXPECT_FALSE(DScaler::make({}, &other));
  EXPECT_FALSE(DScaler::make({{"frozen", "true"}}, nullptr));
  EXPECT_FALSE(DScaler::make({{"frosen", "true"}}, &model));
}

TEST(DScaler, IsTakenUpWhereItWasPutAway) {
  DScaler first(quick());
  TestService service(3);
  for (int i = 0; i < 200; ++i) service.step(100, first);
  DScaler second(quick());
  ASSERT_TRUE(second.restore(first.save()));
  EXPECT_EQ(second.model(), first.model());
  EXPECT_EQ(second.learner().memory().size(), first.learner().memory().size());
}

TEST(ASarsa, StepsByOneAndLearnsNotToViolate) {
  ASarsa policy;
  TestService service(6);
  for (int i = 0; i < 3000; ++i) {
    const std::int32_t before = service.wanted();
    const Recommendation answer = service.step(110, policy);
    EXPECT_TRUE(!answer.unable.empty() || std::abs(answer.replicas - before) <= 1);
  }
  service.forget_figures();
  for (int i = 0; i < 500; ++i) service.step(110, policy);
  EXPECT_LT(service.violation(), 0.3);
}

TEST(ASarsa, IsTakenUpWhereItWasPutAway) {
  ASarsa first, second;
  TestService service(3);
  for (int i = 0; i < 100; ++i) service.step(90, first);
  ASSERT_TRUE(second.restore(first.save()));
  EXPECT_EQ(second.save().bytes(), first.save().bytes());
  learning::SavedState other;
  other.put_text("policy", "dscaler");
  EXPECT_FALSE(second.restore(other));
}

TEST(ASarsa, IsUnableWithoutAResponse) {
  ASarsa policy;
  const ScalerSpec spec = TestService::own_spec();
  ServiceReport report = test_report({0.2, 0.2});
  report.requests_per_s = ServiceReport::Amount{10, kNow};
  Random random(1);
  EXPECT_FALSE(policy.recommend({{}, spec, report, {}, {}, 2, kNow}, random).unable.empty());
}

}  // namespace
}  // namespace evenkeel::autoscaling
