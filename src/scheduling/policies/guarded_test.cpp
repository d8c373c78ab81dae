#include "scheduling/policies/guarded.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "scheduling/policies/horizon.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A learned policy that does as the test says.
class Scripted final : public PlacementPolicy {
 public:
  std::optional<NodeId> choose(const PlacementRequest&, Random&) override {
    ++asked;
    return answer;
  }
  ScoreSheet explain(const PlacementRequest&) override {
    ScoreSheet sheet{{"learned"}, {}};
    if (answer) sheet.rows.push_back({*answer, {1}, 1});
    return sheet;
  }
  std::span<const float> scores(const PlacementRequest&) override { return given_scores; }
  SelfCheck self_check() const override { return check; }
  std::vector<LearningFigure> learning() const override { return figures; }
  std::vector<EvictPod> review(const Retrospect&, Random&) override { return {EvictPod{{1, 1}, {}, "hot"}}; }
  Time review_at() const override { return reviews ? Time{} : Time::max(); }

  std::optional<NodeId> answer = NodeId{3};
  std::vector<float> given_scores;
  SelfCheck check{true, 10, 0};
  std::vector<LearningFigure> figures;
  bool reviews = false;
  int asked = 0;
};

// Four nodes, of which the first is empty: the rule goes there, the learned policy to the last.
class GuardedTest : public testing::Test {
 protected:
  GuardedTest() : cluster(4) {
    cluster.options.stale_after = 30s;
    for (std::uint32_t slot = 1; slot < 4; ++slot)
      cluster.add_running({slot}, shape_asking(400, 1 << 20, {slot}), Usage{{0.4 * slot, 1e9, 0, 0, 0, 0}});
    cluster.measure();
    auto scripted = std::make_unique<Scripted>();
    learned = scripted.get();
    guarded = std::make_unique<Guarded>(
        Guarded::Parts{"model", "horizon", std::move(scripted), std::make_unique<Horizon>(), ""});
  }
  std::uint32_t ask(const std::string& name = "web-1") {
    pod.name = name;
    Demand demand;
    demand.mean = Usage{{0.3, 1e8, 0, 0, 0, 0}};
    return guarded->choose(cluster.question(pod, demand), random)->slot;
  }
  void pass(Duration time) {
    cluster.now += time;
    cluster.measure();
  }
  std::vector<EvictPod> review() {
    return guarded->review({cluster.state, cluster.history, cluster.options, cluster.now}, random);
  }
  Fallback reason() const { return guarded->state().reason; }

  static constexpr std::uint32_t kLearned = 3, kRule = 0;
  TestCluster cluster;
  Random random{1};
  Pod pod = pod_with(spec_asking(100, 1 << 20), {9});
  Scripted* learned = nullptr;
  std::unique_ptr<Guarded> guarded;
};

TEST_F(GuardedTest, LetsTheLearnedPolicyDecideWhileAllIsWell) {
  EXPECT_EQ(ask(), kLearned);
  EXPECT_TRUE(guarded->state().healthy);
  EXPECT_EQ(guarded->state().by_learned, 1U);
  EXPECT_EQ(guarded->note(), "decided by model");
}

TEST_F(GuardedTest, FallsBackTheMomentMetricsGoStaleAndReturnsWhenTheyAreFreshForAWhile) {
  EXPECT_EQ(ask(), kLearned);
  cluster.now += 30s;
  EXPECT_EQ(ask(), kLearned);
  cluster.now += 1s;
  EXPECT_NE(ask(), kLearned);
  EXPECT_EQ(reason(), Fallback::metrics_stale);
  EXPECT_NE(guarded->note().find("metrics_stale"), std::string::npos);
  pass(1s);
  EXPECT_EQ(ask(), kRule) << "not at once";
  for (int i = 0; i < 5; ++i) {
    pass(6s);
    ask();
  }
  pass(1s);
  EXPECT_EQ(ask(), kLearned);
  EXPECT_EQ(guarded->state().falls, 1U);
  EXPECT_EQ(guarded->state().returns, 1U);
}

TEST_F(GuardedTest, LeavesTheDecidingToTheRuleWhereTheModelHasNothingToSay) {
  learned->check.silent = "its network is for another number of nodes";
  EXPECT_EQ(ask(), kRule) << "though it named a node, by a rule of its own";
  EXPECT_EQ(reason(), Fallback::no_answer);
  EXPECT_NE(guarded->note().find("another number of nodes"), std::string::npos) << guarded->note();
}

TEST_F(GuardedTest, LetsAPodWaitWhereTheLearnedPolicySaysItHadBetter) {
  learned->answer.reset();
  learned->check.waits = true;
  EXPECT_EQ(guarded->choose(cluster.question(pod), random), std::nullopt);
  EXPECT_TRUE(guarded->state().healthy);
  learned->check.waits = false;
  EXPECT_EQ(ask(), kRule);
  EXPECT_EQ(reason(), Fallback::no_answer);
}

TEST_F(GuardedTest, NoticesANodeNobodyMeasuresThatCameInTheStepOfOneThatLeft) {
  EXPECT_EQ(ask(), kLearned);
  cluster.state.remove_node({0});
  cluster.state.set_node(test_node(4));
  EXPECT_NE(ask("web-2"), kLearned);
  EXPECT_EQ(reason(), Fallback::metrics_missing);
}

TEST_F(GuardedTest, BearsAFewNodesWithoutMetricsButNotIfItChoosesOne) {
  TestCluster many(10);
  cluster.state = std::move(many.state);
  cluster.now += 1h;
  for (std::uint32_t slot = 0; slot < 8; ++slot) cluster.state.set_base_load({slot}, {}, cluster.now);
  EXPECT_EQ(ask(), 3U);
  learned->answer = NodeId{9};
  EXPECT_NE(ask("web-2"), 9U) << "its own metrics are missing";
  EXPECT_TRUE(guarded->state().healthy) << "which says nothing of the next";
  EXPECT_EQ(guarded->state().instead[static_cast<std::size_t>(Fallback::metrics_stale)], 1U);
  cluster.state.set_node(test_node(10));  // the third of eleven
  learned->answer = NodeId{3};
  ask("web-3");
  EXPECT_EQ(reason(), Fallback::metrics_missing);
}

TEST_F(GuardedTest, ServesByTheRuleWithoutAModelAndSaysWhy) {
  Guarded bare({"model", "horizon", nullptr, std::make_unique<Horizon>(), "model.ekm: damaged"});
  EXPECT_EQ(bare.choose(cluster.question(pod), random)->slot, kRule);
  EXPECT_EQ(bare.state().reason, Fallback::no_model);
  EXPECT_EQ(bare.state().why, "model.ekm: damaged");
  EXPECT_EQ(bare.review_at(), Time::max());
}

TEST_F(GuardedTest, NeverLetsScoresThatAreNoNumbersDecide) {
  for (const float odd : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    learned->given_scores = {0, odd, 0, 1};
    EXPECT_EQ(ask(), kRule);
    EXPECT_EQ(reason(), Fallback::not_finite);
  }
  learned->given_scores.clear();
  learned->check.finite = false;
  EXPECT_EQ(ask(), kRule);
}

TEST_F(GuardedTest, NeverPlacesWhereTheFiltersSayNo) {
  Node cordoned = test_node(3);
  cordoned.unschedulable = true;
  cluster.state.set_node(cordoned);
  EXPECT_EQ(ask(), kRule);
  EXPECT_EQ(reason(), Fallback::no_answer);
  learned->answer = NodeId{77};
  EXPECT_EQ(ask(), kRule);
  learned->answer = std::nullopt;
  EXPECT_EQ(ask(), kRule);
}

TEST_F(GuardedTest, LetsAPodWaitWhereWaitingIsAnAnswer) {
  cluster.options.hold_back.on = true;
  learned->answer = std::nullopt;
  pod.name = "web-1";
  EXPECT_FALSE(guarded->choose(cluster.question(pod), random));
  EXPECT_TRUE(guarded->state().healthy);
}

TEST_F(GuardedTest, FallsBackWhenInputsDriftAndReturnsWhenTheyAreUsualAgain) {
  learned->check.outside = 3;
  for (int i = 0; i < 40; ++i) ask();
  EXPECT_EQ(reason(), Fallback::drift);
  EXPECT_EQ(ask(), kRule);
  learned->check.outside = 0;
  for (int i = 0; i < 100; ++i) {
    pass(1s);
    ask();
  }
  EXPECT_EQ(ask(), kLearned);
}

TEST_F(GuardedTest, LeavesOneVeryStrangeQuestionToTheRuleAlone) {
  for (int i = 0; i < 60; ++i) ask();
  learned->check.outside = 8;
  EXPECT_EQ(ask(), kRule);
  EXPECT_TRUE(guarded->state().healthy);
  learned->check.outside = 0;
  EXPECT_EQ(ask(), kLearned);
}

TEST_F(GuardedTest, FallsBackWhenItsRewardStaysBelowTheRules) {
  learned->figures = {{"reward", 0.5}, {"rule_reward", 0.8}};
  for (int i = 0; i < 5; ++i) {
    review();
    pass(5s);
  }
  EXPECT_EQ(ask(), kLearned) << "a few looks prove nothing";
  review();
  EXPECT_EQ(reason(), Fallback::reward);
  EXPECT_EQ(ask(), kRule);
  learned->figures = {{"reward", 0.9}, {"rule_reward", 0.8}};
  for (int i = 0; i < 110; ++i) {
    pass(5s);
    review();
  }
  EXPECT_EQ(ask(), kRule) << "not before the pause is over";
  for (int i = 0; i < 20; ++i) {
    pass(5s);
    review();
  }
  EXPECT_EQ(ask(), kLearned);
}

TEST_F(GuardedTest, DoesNotTakeARewardThatIsNoNumberForAGoodOne) {
  learned->figures = {{"reward", kNan}, {"rule_reward", 0.8}};
  for (int i = 0; i < 7; ++i) {
    review();
    pass(5s);
  }
  EXPECT_EQ(reason(), Fallback::reward);
}

TEST_F(GuardedTest, ComparesWhatCameOfBothSidesInCanary) {
  guarded->set_stage(StageSettings{Stage::canary, 0.5, {}});
  // Whenever the learned policy decided, the cluster is less even ten seconds later.
  for (int i = 0; i < 400 && guarded->state().healthy; ++i) {
    ask("web-" + std::to_string(i));
    const bool by_learned = guarded->last().learned;
    pass(10s);
    cluster.state.set_base_load({1}, Usage{{by_learned ? 3.0 : 0.1, 0, 0, 0, 0, 0}}, cluster.now);
    review();
    cluster.state.set_base_load({1}, {}, cluster.now);
  }
  EXPECT_EQ(reason(), Fallback::reward);
  EXPECT_NE(guarded->state().why.find("imbalance"), std::string::npos);
}

TEST_F(GuardedTest, KeepsARightAndALeftHandInCanaryThatDoEquallyWell) {
  guarded->set_stage(StageSettings{Stage::canary, 0.5, {}});
  Random noise(3);
  for (int i = 0; i < 400; ++i) {
    ask("web-" + std::to_string(i));
    pass(10s);
    cluster.state.set_base_load({1}, Usage{{noise.between(0, 2), 0, 0, 0, 0, 0}}, cluster.now);
    review();
    cluster.state.set_base_load({1}, {}, cluster.now);
  }
  EXPECT_TRUE(guarded->state().healthy);
}

TEST_F(GuardedTest, OnlyRecordsTheLearnedChoiceInShadow) {
  guarded->set_stage(StageSettings{Stage::shadow, 0.1, {}});
  EXPECT_EQ(ask(), kRule);
  EXPECT_EQ(learned->asked, 0) << "it learns nothing from what it did not decide";
  const GuardVerdict& last = guarded->last();
  EXPECT_EQ(last.learned_choice, NodeId{kLearned});
  EXPECT_EQ(last.rule_choice, NodeId{kRule});
  EXPECT_GT(last.learned_imbalance, last.rule_imbalance);
  EXPECT_GT(last.learned_fullest, last.rule_fullest);
}

TEST_F(GuardedTest, DecidesInShadowAsTheRuleAloneWould) {
  guarded->set_stage(StageSettings{Stage::shadow, 0.1, {}});
  TestCluster even(16);
  even.measure();
  Horizon alone;
  Random lots(7), same_lots(7);
  learned->given_scores.assign(16, 0.0F);
  for (int i = 0; i < 50; ++i) {
    const PlacementRequest question = even.question(pod);
    EXPECT_EQ(guarded->choose(question, lots), alone.choose(question, same_lots));
  }
}

TEST_F(GuardedTest, ObeysAStageFromTheNextQuestionOn) {
  EXPECT_EQ(ask(), kLearned);
  guarded->set_stage(StageSettings{Stage::shadow, 0.1, {}});
  EXPECT_EQ(ask(), kRule);
  guarded->set_stage(StageSettings{Stage::canary, 0, {"default"}});
  EXPECT_EQ(ask(), kLearned);
  guarded->set_stage(std::nullopt, "the ConfigMap is gone");
  EXPECT_EQ(ask(), kRule);
  EXPECT_EQ(reason(), Fallback::stage_unknown);
  guarded->set_stage(StageSettings{});
  ask();
  EXPECT_EQ(ask(), kLearned) << "a word is enough";
}

TEST_F(GuardedTest, LetsOnlyATrustedPolicyEndPods) {
  learned->reviews = true;
  EXPECT_EQ(review().size(), 1U);
  guarded->set_stage(StageSettings{Stage::shadow, 0.1, {}});
  EXPECT_TRUE(review().empty());
  guarded->set_stage(StageSettings{});
  cluster.now += 1h;
  EXPECT_TRUE(review().empty()) << "its metrics are stale";
}

TEST_F(GuardedTest, ExplainsWhoDecided) {
  ask();
  EXPECT_EQ(guarded->explain(cluster.question(pod)).terms.front(), "learned");
  cluster.now += 1h;
  ask();
  const ScoreSheet sheet = guarded->explain(cluster.question(pod));
  EXPECT_NE(sheet.terms.front(), "learned");
  EXPECT_NE(sheet.note.find("horizon instead of model"), std::string::npos);
}

TEST_F(GuardedTest, NoticesBetweenQuestionsThatAllIsWellAgain) {
  cluster.now += 1h;
  ask();
  ASSERT_FALSE(guarded->state().healthy);
  for (int i = 0; i < 10; ++i) {
    pass(5s);
    review();
  }
  EXPECT_TRUE(guarded->state().healthy);
}

}  // namespace
}  // namespace evenkeel::scheduling
