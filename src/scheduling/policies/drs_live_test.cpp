#include "scheduling/policies/drs_live.h"

#include <gtest/gtest.h>

#include <cmath>

#include "scheduling/policies/test_link.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;

double figure(const PlacementPolicy& policy, std::string_view name) {
  for (const LearningFigure& figure : policy.learning())
    if (figure.name == name) return figure.value;
  ADD_FAILURE() << "no figure " << name;
  return 0;
}

class LiveDrsPolicy : public testing::Test {
 protected:
  LiveDrsPolicy() : cluster_(4) { report(); }

  static LiveLearningOptions quiet() {
    LiveLearningOptions options;
    options.explore.share = 0;
    return options;
  }
  static LiveLearningOptions curious() {
    LiveLearningOptions options;
    options.explore.share = 1;
    options.explore.margin = 1;
    return options;
  }

  void report(const Usage& total = Usage{{1, 1 << 30, 0, 0, 0, 0}}) {
    for (std::uint32_t slot = 0; slot < cluster_.state.columns().size(); ++slot) report_of(slot, total);
  }
  void report_of(std::uint32_t slot, const Usage& total = Usage{{1, 1 << 30, 0, 0, 0, 0}}) {
    cluster_.state.add_report({{slot}, cluster_.now, total, {}},
                              [](const PodRecord& r, const Usage&) { return r.expected; });
  }
  PodId place(LiveDrs& policy, bool bound = true) {
    const Pod pod = test_pod({next_slot_++, 1}, shape_asking(100, 1 << 20));
    cluster_.state.add_pending(pod);
    const auto chosen = policy.choose(cluster_.question(pod), random_);
    node_ = chosen.value();
    sheet_ = policy.explain(cluster_.question(pod));
    cluster_.state.assume(pod.id, node_, {}, cluster_.now);
    if (bound) cluster_.state.confirm(pod.id, node_, cluster_.now);
    return pod.id;
  }
  // Second by second, as the loop would; samples come with each unless told otherwise.
  void let_pass(LiveDrs& policy, int seconds, bool sampled = true) {
    for (int i = 0; i < seconds; ++i) {
      cluster_.now += 1s;
      if (sampled) report();
      if (policy.review_at() <= cluster_.now)
        policy.review({cluster_.state, cluster_.history, cluster_.options, cluster_.now}, random_);
    }
  }
  void publish(int best, bool decides, std::string_view variant = "drs") {
    const int outputs = variant == "drs-dueling" ? 5 : 4;
    link_.publish({"node-0", "node-1", "node-2", "node-3"}, 30, outputs, best, decides);
  }

  TestCluster cluster_;
  Random random_{1};
  TestLink link_;
  NodeId node_;
  ScoreSheet sheet_;
  std::uint32_t next_slot_ = 1;
};

TEST_F(LiveDrsPolicy, LetsTheRuleDecideFromAColdStartAndKeepsWhatItTeaches) {
  LiveDrs policy(*drs_settings("drs"), quiet(), link_);
  place(policy);
  EXPECT_EQ(link_.layouts, (std::vector<Names>{{"node-0", "node-1", "node-2", "node-3"}}));
  EXPECT_NE(sheet_.terms.front(), "Q");
  let_pass(policy, 8);
  ASSERT_EQ(link_.lessons.size(), 1U);
  const Lesson& lesson = link_.lessons.front();
  EXPECT_EQ(lesson.state.size(), 30U);
  EXPECT_EQ(static_cast<std::uint32_t>(lesson.action), node_.slot);
  EXPECT_NEAR(lesson.reward, 100 * (0.25 + 0.125) / 6, 1e-9);
  EXPECT_EQ(figure(policy, "rule_rewards"), 1);
  EXPECT_NEAR(figure(policy, "rule_reward"), lesson.reward, 1e-9);
  EXPECT_EQ(figure(policy, "rewards"), 0);
}

TEST_F(LiveDrsPolicy, DecidesOnceItsWeightsSayTheyHaveLearntEnough) {
  for (const std::string_view name : {"drs", "drs-double", "drs-dueling", "drs-ppo", "drs-sac"}) {
    LiveDrs policy(*drs_settings(name), quiet(), link_);
    publish(3, false, name);
    place(policy);
    publish(3, true, name);
    for (int i = 0; i < 5; ++i) {
      place(policy);
      EXPECT_EQ(node_.slot, 3U) << name;
      EXPECT_EQ(sheet_.rows.front().node.slot, 3U) << name;
    }
    let_pass(policy, 8);
    EXPECT_EQ(policy.rewards().rewards(Decider::learned), 5U) << name;
    EXPECT_EQ(figure(policy, "decides"), 1);
  }
}

TEST_F(LiveDrsPolicy, TakesRewardsFromSamplesNewerThanTheBindingAlone) {
  LiveDrs policy(*drs_settings("drs"), quiet(), link_);
  const PodId pod = place(policy, false);
  let_pass(policy, 3);
  cluster_.state.confirm(pod, node_, cluster_.now);
  let_pass(policy, 20, false);
  EXPECT_TRUE(link_.lessons.empty()) << "every sample is older than the binding";
  for (const std::uint32_t slot : {0U, 1U, 2U}) report_of(slot);
  let_pass(policy, 2, false);
  EXPECT_TRUE(link_.lessons.empty()) << "one node's still is";
  report_of(3);
  let_pass(policy, 2, false);
  EXPECT_EQ(link_.lessons.size(), 1U);
}

TEST_F(LiveDrsPolicy, LearnsOfTheOthersWhileANodeIsSilentAndNothingOfWhatItDoesItself) {
  LiveDrs policy(*drs_settings("drs"), quiet(), link_);
  publish(3, true);
  const auto pass = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      let_pass(policy, 1, false);
      for (const std::uint32_t slot : {1U, 2U, 3U}) report_of(slot);
    }
  };
  pass(static_cast<int>(to_seconds(cluster_.options.stale_after)) + 2);
  place(policy);
  EXPECT_EQ(node_.slot, 3U) << "one silent node takes nobody's turn away";
  pass(10);
  EXPECT_EQ(link_.lessons.size(), 1U);
  publish(0, true);
  place(policy);
  EXPECT_EQ(node_.slot, 0U);
  pass(80);
  EXPECT_EQ(link_.lessons.size(), 1U);
  EXPECT_EQ(policy.rewards().lost_to(Lost::stale), 1U);
}

TEST_F(LiveDrsPolicy, CountsEveryDecisionAsRewardedLostOrWaiting) {
  LiveDrs policy(*drs_settings("drs"), curious(), link_);
  publish(3, true);
  for (int i = 0; i < 120; ++i) {
    const PodId pod = place(policy, i % 7 != 0);
    if (i % 5 == 0) cluster_.state.remove_pod(pod);
    if (i % 50 == 49) cluster_.now += cluster_.options.stale_after + 1s;
    if (i % 20 == 0) let_pass(policy, 3, i % 40 == 0);
    double settled = figure(policy, "waiting") + figure(policy, "rewards") + figure(policy, "rule_rewards") +
                     figure(policy, "explored_rewards");
    for (const std::string_view why : kLostNames) settled += figure(policy, why);
    ASSERT_EQ(figure(policy, "decisions"), settled) << i;
  }
  EXPECT_GT(policy.rewards().lost_to(Lost::unmeasured), 0U);
}

TEST_F(LiveDrsPolicy, GivesUpAndCountsWhereNoFreshSampleComes) {
  LiveDrs policy(*drs_settings("drs"), quiet(), link_);
  place(policy);
  let_pass(policy, 70, false);
  EXPECT_TRUE(link_.lessons.empty());
  EXPECT_EQ(policy.rewards().lost_to(Lost::stale), 1U);
  EXPECT_EQ(policy.review_at(), Time::max());
}

TEST_F(LiveDrsPolicy, LearnsNothingFromFailedBindingsAndPodsThatAreGone) {
  LiveDrs policy(*drs_settings("drs"), quiet(), link_);
  cluster_.state.unassume(place(policy, false));
  cluster_.state.remove_pod(place(policy));
  let_pass(policy, 10);
  EXPECT_TRUE(link_.lessons.empty());
  EXPECT_EQ(policy.rewards().lost_to(Lost::gone), 2U);
}

TEST_F(LiveDrsPolicy, LetsNoMetricThatIsNoNumberReachALesson) {
  LiveDrs policy(*drs_settings("drs"), quiet(), link_);
  for (int i = 0; i < 20; ++i) {
    place(policy);
    report(Usage{{std::nan(""), INFINITY, -1, 0, 0, 0}});
    let_pass(policy, 7, i % 2 == 0);
  }
  for (const Lesson& lesson : link_.lessons) {
    EXPECT_TRUE(std::isfinite(lesson.reward));
    EXPECT_TRUE(learning::all_finite(lesson.state) && learning::all_finite(lesson.next_state));
  }
}

TEST_F(LiveDrsPolicy, LearnsFromADecisionThatAnotherTookInItsStead) {
  LiveDrs policy(*drs_settings("drs"), quiet(), link_);
  publish(3, true);
  const Pod pod = test_pod({next_slot_++, 1}, shape_asking(100, 1 << 20));
  cluster_.state.add_pending(pod);
  policy.choose(cluster_.question(pod), random_);
  policy.placed(cluster_.question(pod), {1});
  cluster_.state.assume(pod.id, {1}, {}, cluster_.now);
  cluster_.state.confirm(pod.id, {1}, cluster_.now);
  let_pass(policy, 8);
  ASSERT_EQ(link_.lessons.size(), 1U);
  EXPECT_EQ(link_.lessons[0].action, 1);
  EXPECT_EQ(policy.rewards().rewards(Decider::rule), 1U);
  EXPECT_EQ(policy.rewards().rewards(Decider::learned), 0U);
}

TEST_F(LiveDrsPolicy, ExploresAsOftenAsItMayAndSaysSo) {
  LiveLearningOptions options = curious();
  options.explore.share = 0.2;
  LiveDrs policy(*drs_settings("drs"), options, link_);
  publish(3, true);
  int elsewhere = 0, marked = 0;
  for (int i = 0; i < 1000; ++i) {
    const PodId pod = place(policy);
    elsewhere += node_.slot != 3 ? 1 : 0;
    marked += sheet_.terms.back() == "explored" ? 1 : 0;
    EXPECT_EQ(sheet_.rows.front().node, node_);
    cluster_.state.remove_pod(pod);
    let_pass(policy, 1);
  }
  EXPECT_NEAR(static_cast<double>(policy.rewards().explorations()), 200, 50);
  EXPECT_EQ(static_cast<std::uint64_t>(marked), policy.rewards().explorations());
  EXPECT_GT(elsewhere, 100);
}

TEST_F(LiveDrsPolicy, NeverTriesThingsOutOnThosePodsThatAreSpared) {
  LiveLearningOptions options = curious();
  options.explore.never_namespaces = {"default"};
  LiveDrs policy(*drs_settings("drs"), options, link_);
  publish(3, true);
  for (int i = 0; i < 30; ++i) {
    place(policy);
    ASSERT_EQ(node_.slot, 3U);
  }
  EXPECT_EQ(policy.rewards().explorations(), 0U);
}

TEST_F(LiveDrsPolicy, UnderPpoTeachesWhatItsOwnPolicyDrewAndFromWhat) {
  LiveDrs cold(*drs_settings("drs-ppo"), quiet(), link_);
  publish(3, false);
  place(cold);
  let_pass(cold, 8);
  EXPECT_TRUE(link_.lessons.empty()) << "the rule's choices are not its own";
  EXPECT_EQ(cold.rewards().rewards(Decider::rule), 1U);

  LiveDrs sure(*drs_settings("drs-ppo"), quiet(), link_);
  publish(3, true);
  place(sure);
  let_pass(sure, 8);
  ASSERT_EQ(link_.lessons.size(), 1U);
  EXPECT_EQ(link_.lessons[0].allowed, (learning::Mask{0, 0, 0, 1}));
  EXPECT_EQ(link_.lessons[0].log_probability, 0);

  LiveDrs trying(*drs_settings("drs-ppo"), curious(), link_);
  place(trying);
  let_pass(trying, 8);
  ASSERT_EQ(link_.lessons.size(), 2U);
  EXPECT_GT(learning::allowed_count(link_.lessons[1].allowed, 4), 1U);
  EXPECT_LT(link_.lessons[1].log_probability, 0);
}

TEST_F(LiveDrsPolicy, KeepsPlacesByNameWhateverTheHandles) {
  link_.publish({"node-3", "node-1", "node-0", "node-2"}, 30, 4, 0, true);
  LiveDrs policy(*drs_settings("drs"), quiet(), link_);
  place(policy);
  EXPECT_EQ(node_.slot, 3U) << "the first place is node-3's";
  EXPECT_TRUE(link_.layouts.empty());
}

TEST_F(LiveDrsPolicy, MasksNodesThatLeaveAndBeginsAnewWhereOneTooManyJoins) {
  publish(3, true);
  LiveDrs policy(*drs_settings("drs"), quiet(), link_);
  place(policy);
  cluster_.state.remove_node({3});
  place(policy);
  EXPECT_NE(node_.slot, 3U);
  EXPECT_TRUE(link_.layouts.empty());
  cluster_.state.set_node(test_node(7));
  report();
  place(policy);
  EXPECT_EQ(link_.layouts.back(), (Names{"node-0", "node-1", "node-2", "node-7"}));
  EXPECT_EQ(node_.slot, 7U) << "it took the place of one that left";
  cluster_.state.set_node(test_node(8));
  report();
  place(policy);
  EXPECT_EQ(link_.layouts.back(), (Names{"node-0", "node-1", "node-2", "node-7", "node-8"}));
  EXPECT_NE(sheet_.terms.front(), "Q") << "the rule decides until there is a network for five";
}

TEST_F(LiveDrsPolicy, LeavesItToTheRuleWhereMetricsAreStale) {
  LiveDrs policy(*drs_settings("drs"), quiet(), link_);
  publish(0, true);
  cluster_.state.found(test_pod({50, 1}, shape_asking(3000, 4LL << 30)), {0}, {}, cluster_.now);
  cluster_.now += cluster_.options.stale_after + 1s;
  place(policy);
  EXPECT_NE(node_.slot, 0U);
  EXPECT_EQ(policy.review_at(), Time::max());
}

}  // namespace
}  // namespace evenkeel::scheduling
