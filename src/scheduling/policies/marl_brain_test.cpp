#include "scheduling/policies/marl_brain.h"

#include <gtest/gtest.h>

#include <limits>

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;

AgentView view_at(double cpu) {
  AgentView view;
  view.node.capacity = Usage{{4, 8e9, 100, 100, 200, 200}};
  view.node.used = Usage{{4 * cpu, 2e9, 10, 20, 20, 50}};
  view.node.ahead.fill(view.node.used);
  view.cluster.used = {0.4F, 0.25F, 0.1F, 0.2F, 0.1F, 0.25F};
  view.cluster.spread.fill(0.1F);
  view.cluster.nodes = 4;
  view.pod.expected = Usage{{1, 1e8, 0, 0, 0, 0}};
  return view;
}

MarlBrainOptions quick(MarlBrainOptions options) {
  options.dqn.optimizer.learning_rate = 0.01;
  return options;
}

TEST(MarlBrain, LearnsWhereItsPodsDoHarm) {
  Random random(1);
  MarlBrain brain(quick(shared_brain()), random);
  Time now = Time{} + 1h;
  const auto use = [](const PodKey&) { return Usage{{1, 1e8, 0, 0, 0, 0}}; };
  for (std::uint32_t i = 0; i < 400; ++i) {
    AgentView view = view_at(random.between(0.1, 0.7));
    view.pod.pod = pod_key(PodId{i, 1});
    brain.settle(view, true, now);
    AgentView later = view;
    later.node.used += view.pod.expected;
    now += 1min;
    while (brain.review_at() < now + 10min) brain.review(brain.review_at(), later, use, random);
  }
  EXPECT_EQ(brain.progress().rewards, 400U);
  EXPECT_GT(brain.consider(view_at(0.2)).score, brain.consider(view_at(0.6)).score);
  EXPECT_EQ(brain.consider(view_at(0.15)).verdict, BidVerdict::accept);
  EXPECT_EQ(brain.consider(view_at(0.7)).verdict, BidVerdict::reject);
}

TEST(MarlBrain, IsTheSameAfterItsParametersWentToAnother) {
  Random random(1), other(2);
  MarlBrain one(shared_brain(), random), two(shared_brain(), other);
  EXPECT_NE(one.consider(view_at(0.3)).score, two.consider(view_at(0.3)).score);
  ASSERT_TRUE(two.take(one.parameters()));
  EXPECT_NEAR(one.consider(view_at(0.3)).score, two.consider(view_at(0.3)).score, 1e-5);
}

TEST(MarlBrain, RefusesParametersThatAreNotItsOwn) {
  Random random(1);
  MarlBrain brain(shared_brain(), random);
  std::vector<float> parameters = brain.parameters();
  parameters.back() = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(brain.take(parameters));
  parameters.pop_back();
  EXPECT_FALSE(brain.take(parameters));
}

TEST(MarlBrain, NeitherLearnsNorExploresWhenFrozen) {
  Random random(1);
  MarlBrainOptions options = thesis_brain();
  options.frozen = true;
  options.dqn.epsilon_start = options.dqn.epsilon_end = 1;
  MarlBrain brain(options, random);
  const AgentWord word = brain.consider(view_at(0.3));
  for (int i = 0; i < 20; ++i) {
    const AgentWord again = brain.decide(view_at(0.3), random);
    EXPECT_EQ(again.verdict, word.verdict);
    EXPECT_FALSE(again.explored);
  }
  brain.settle(view_at(0.3), true, Time{});
  EXPECT_EQ(brain.review_at(), Time::max());
}

TEST(MarlBrain, ExploresBothWays) {
  Random random(1);
  MarlBrainOptions options = thesis_brain();
  options.dqn.epsilon_start = options.dqn.epsilon_end = 1;
  MarlBrain brain(options, random);
  int accepted = 0;
  for (int i = 0; i < 100; ++i) {
    const AgentWord word = brain.decide(view_at(0.3), random);
    EXPECT_TRUE(word.explored);
    accepted += word.verdict == BidVerdict::accept ? 1 : 0;
  }
  EXPECT_GT(accepted, 25);
  EXPECT_LT(accepted, 75);
}

TEST(MarlBrain, AbstainsWhereItsNetworkSaysNoNumber) {
  Random random(1);
  MarlBrain brain(thesis_brain(), random);
  brain.dqn().network().parameters().back() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(brain.decide(view_at(0.3), random).verdict, BidVerdict::abstains);
  EXPECT_FALSE(brain.self_check().finite);
  EXPECT_FALSE(brain.self_check().silent.empty());
}

TEST(MarlBrain, SaysWhenItSeesWhatItWasNotTrainedOn) {
  Random random(1);
  const MarlBrain made(thesis_brain(), random);
  learning::Model model = marl_model(thesis_brain(), {made.network("agent")});
  for (const learning::FeatureRange& feature : model.normalisation)
    model.inputs.push_back({feature.feature, 0, 0, 0.3, 0.3});
  Result<MarlBrain> brain = MarlBrain::from_model(thesis_brain(), model);
  ASSERT_TRUE(brain);
  brain->decide(view_at(0.9), random);
  EXPECT_EQ(brain->self_check().inputs, 12U);
  EXPECT_GE(brain->self_check().outside, 1U);
}

TEST(MarlBrain, RefusesAnotherPolicysModel) {
  Random random(1);
  const MarlBrain made(thesis_brain(), random);
  const learning::Model model = marl_model(thesis_brain(), {made.network("agent")});
  const Result<MarlBrain> shared = MarlBrain::from_model(shared_brain(), model);
  ASSERT_FALSE(shared);
  EXPECT_NE(shared.error().message.find("'marl'"), std::string::npos);
  EXPECT_FALSE(MarlBrain::from_model(thesis_brain(), model, "agent-1"));
}

TEST(AveragedBrains, CountByTheirExperience) {
  const std::vector<float> one{1, 2}, three{5, 6}, odd{1}, bad{std::numeric_limits<float>::infinity(), 0};
  const BrainShare shares[] = {{one, 1}, {three, 3}, {odd, 9}, {bad, 9}, {one, 0}};
  const auto mean = average(shares);
  ASSERT_TRUE(mean);
  EXPECT_EQ(*mean, (std::vector<float>{4, 5}));
  EXPECT_FALSE(average({}));
}

}  // namespace
}  // namespace evenkeel::scheduling
