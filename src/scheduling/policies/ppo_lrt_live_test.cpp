#include "scheduling/policies/ppo_lrt_live.h"

#include <gtest/gtest.h>

#include "scheduling/policies/ppo_lrt.h"
#include "scheduling/policies/test_link.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;

// Pods are placed, found to run, and end, second by second.
class LivePpoLrt : public testing::Test {
 protected:
  LivePpoLrt() : cluster_(3) { report(); }

  static LiveLearningOptions exploring(double share) {
    LiveLearningOptions options;
    options.explore.share = share;
    options.explore.margin = 1;
    return options;
  }
  static PpoLrtOptions without_load_control() {
    PpoLrtOptions options;
    options.load_control = false;
    return options;
  }
  void report() {
    for (std::uint32_t slot = 0; slot < cluster_.state.columns().size(); ++slot) report_of(slot);
  }
  void report_of(std::uint32_t slot) {
    cluster_.state.add_report({{slot}, cluster_.now, Usage{{1, 1 << 30, 0, 0, 0, 0}}, {}},
                              [](const PodRecord& r, const Usage&) { return r.expected; });
  }
  PodId place(PpoLrt& policy, bool bound = true) {
    Pod pod = test_pod({next_slot_++, 1}, shape_asking(100, 1 << 20));
    pod.created = cluster_.now;
    cluster_.state.add_pending(pod);
    node_ = policy.choose(cluster_.question(pod), random_).value();
    sheet_ = policy.explain(cluster_.question(pod));
    cluster_.state.assume(pod.id, node_, {}, cluster_.now);
    if (bound) cluster_.state.confirm(pod.id, node_, cluster_.now);
    return pod.id;
  }
  void let_pass(PpoLrt& policy, int seconds, std::vector<PodId> ending = {}, bool sampled = true) {
    std::vector<EndedPod> ended;
    for (const PodId pod : ending) {
      ended.push_back({pod, {}, cluster_.state.pod(pod)->pod.created, cluster_.now, cluster_.now + 1s});
      cluster_.state.remove_pod(pod);
    }
    for (int i = 0; i < seconds; ++i) {
      cluster_.now += 1s;
      if (sampled) report();
      if (policy.review_at() > cluster_.now && ended.empty()) continue;
      policy.review({cluster_.state, cluster_.history, cluster_.options, cluster_.now, ended}, random_);
      ended.clear();
    }
  }
  void publish(int best_node, bool decides) {
    link_.publish({"node-0", "node-1", "node-2"}, ppo_lrt_inputs(3), 6, 2 * best_node, decides);
  }
  double figure(const PpoLrt& policy, std::string_view name) {
    for (const LearningFigure& figure : policy.learning())
      if (figure.name == name) return figure.value;
    return -1;
  }

  TestCluster cluster_;
  Random random_{1};
  TestLink link_;
  NodeId node_;
  ScoreSheet sheet_;
  std::uint32_t next_slot_ = 1;
};

TEST_F(LivePpoLrt, LetsTheRuleDecideFromAColdStartAndJudgesItForComparison) {
  PpoLrt policy(without_load_control(), exploring(0), link_);
  const PodId pod = place(policy);
  EXPECT_EQ(link_.layouts, (std::vector<Names>{{"node-0", "node-1", "node-2"}}));
  publish(2, false);
  let_pass(policy, 20);
  let_pass(policy, 10, {pod});
  EXPECT_TRUE(link_.lessons.empty()) << "PPO learns from its own choices alone";
  EXPECT_EQ(figure(policy, "rule_rewards"), 1);
  EXPECT_EQ(figure(policy, "decides"), 0);
}

TEST_F(LivePpoLrt, DecidesByPublishedWeightsAndTeachesWhatCameOfIt) {
  PpoLrt policy(without_load_control(), exploring(0), link_);
  publish(2, true);
  const PodId first = place(policy);
  EXPECT_EQ(node_.slot, 2U);
  EXPECT_EQ(sheet_.rows.front().node.slot, 2U);
  let_pass(policy, 20);
  EXPECT_TRUE(link_.lessons.empty()) << "its pod still runs";
  let_pass(policy, 10, {first});
  ASSERT_EQ(link_.lessons.size(), 1U);
  EXPECT_EQ(link_.lessons[0].action, 4);
  EXPECT_EQ(link_.lessons[0].allowed, (learning::Mask{0, 0, 0, 0, 1, 0})) << "nothing was left to chance";
  // Two deviations of 0 and a response of 21 s: 2 * 0.02 / 0.05 - 0.002 * 21.
  EXPECT_NEAR(link_.lessons[0].reward, 0.8 - 0.002 * 21, 1e-9);
  EXPECT_EQ(figure(policy, "rewards"), 1);
}

TEST_F(LivePpoLrt, TeachesWhatItDrewAmongCloseNodesAndSaysSo) {
  PpoLrt policy(without_load_control(), exploring(1), link_);
  publish(2, false);
  std::vector<PodId> pods;
  for (int i = 0; i < 12; ++i) {
    pods.push_back(place(policy));
    EXPECT_EQ(sheet_.terms.back(), "explored");
    EXPECT_EQ(sheet_.rows.front().node, node_);
  }
  let_pass(policy, 20);
  let_pass(policy, 10, pods);
  ASSERT_EQ(link_.lessons.size(), 12U) << "a trial is one pod, not ten";
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(link_.lessons[i].allowed, (learning::Mask{1, 0, 1, 0, 1, 0})) << "and clears nothing";
    EXPECT_LT(link_.lessons[i].log_probability, 0);
    EXPECT_EQ(link_.lessons[i].sequence, link_.lessons[0].sequence + i);
  }
}

TEST_F(LivePpoLrt, NeverMakesAPodWaitForReadings) {
  PpoLrt policy(without_load_control(), exploring(0), link_);
  publish(1, true);
  for (int i = 0; i < 35; ++i) {
    const Pod pod = test_pod({next_slot_++, 1}, shape_asking(100, 1 << 20));
    cluster_.state.add_pending(pod);
    const auto chosen = policy.choose(cluster_.question(pod), random_);
    ASSERT_TRUE(chosen) << i;
    cluster_.state.assume(pod.id, *chosen, {}, cluster_.now);
  }
}

TEST_F(LivePpoLrt, PaysForAServiceByHowSoonItStartedWithoutWaitingForAnEndThatNeverComes) {
  PpoLrt policy(without_load_control(), exploring(0), link_);
  publish(2, true);
  const PodId pod = place(policy);
  cluster_.state.mark_started(pod, cluster_.now + 3s);
  let_pass(policy, 20);
  ASSERT_EQ(link_.lessons.size(), 1U);
  EXPECT_NEAR(link_.lessons[0].reward, 0.8 - 0.002 * 3, 1e-9);
}

TEST_F(LivePpoLrt, WaitsForTheEndOfAPodWhoseWorkloadIsKnownToEndAndTeachesOthersMeanwhile) {
  PpoLrt policy(without_load_control(), exploring(1), link_);
  publish(2, true);
  const PodId job = place(policy);
  cluster_.history.observe_end(cluster_.state.pod(job)->pod, 40s);
  cluster_.state.mark_started(job, cluster_.now);
  let_pass(policy, 2);
  Pod service = test_pod({next_slot_++, 1}, shape_asking(100, 1 << 20, {9}));
  service.created = cluster_.now;
  cluster_.state.add_pending(service);
  const NodeId node = policy.choose(cluster_.question(service), random_).value();
  cluster_.state.assume(service.id, node, {}, cluster_.now);
  cluster_.state.confirm(service.id, node, cluster_.now);
  cluster_.state.mark_started(service.id, cluster_.now);
  let_pass(policy, 20);
  ASSERT_EQ(link_.lessons.size(), 1U) << "the job still runs";
  let_pass(policy, 10, {job});
  ASSERT_EQ(link_.lessons.size(), 2U);
  EXPECT_EQ(link_.lessons[1].sequence + 1, link_.lessons[0].sequence) << "the job came first";
  EXPECT_EQ(link_.lessons[1].next_state, link_.lessons[0].state);
  EXPECT_NEAR(link_.lessons[1].reward, 0.8 - 0.002 * 23, 1e-9);
}

TEST_F(LivePpoLrt, CountsWhatAPodHasTakenSoFarWhereItShouldHaveEndedLongAgo) {
  PpoLrt policy(without_load_control(), exploring(0), link_);
  publish(1, true);
  const PodId stuck = place(policy);
  cluster_.history.observe_end(cluster_.state.pod(stuck)->pod, 40s);
  cluster_.state.mark_started(stuck, cluster_.now);
  let_pass(policy, 595);
  EXPECT_TRUE(link_.lessons.empty());
  let_pass(policy, 10);
  ASSERT_EQ(link_.lessons.size(), 1U);
  EXPECT_NEAR(link_.lessons[0].reward, 0.8 - 0.002 * 600, 0.02);
}

TEST_F(LivePpoLrt, GivesUpAStepThatNoFreshSampleShows) {
  PpoLrt policy(without_load_control(), exploring(0), link_);
  publish(1, true);
  place(policy);
  let_pass(policy, 80, {}, false);
  EXPECT_EQ(figure(policy, "dropped_stale"), 1);
  EXPECT_EQ(figure(policy, "waiting"), 0);
  EXPECT_EQ(figure(policy, "decisions"), 1);
}

TEST_F(LivePpoLrt, GoesOnDecidingAndLearningWhileANodeIsSilent) {
  PpoLrt policy(without_load_control(), exploring(0), link_);
  publish(1, true);
  const auto pass = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      let_pass(policy, 1, {}, false);
      for (const std::uint32_t slot : {0U, 1U}) report_of(slot);
    }
  };
  pass(static_cast<int>(to_seconds(cluster_.options.stale_after)) + 2);
  cluster_.state.mark_started(place(policy), cluster_.now);
  EXPECT_EQ(node_.slot, 1U);
  pass(20);
  EXPECT_EQ(link_.lessons.size(), 1U) << "of node-2 nothing is heard, and nothing is expected";
  publish(2, true);
  cluster_.state.mark_started(place(policy), cluster_.now);
  EXPECT_EQ(node_.slot, 2U);
  pass(80);
  EXPECT_EQ(link_.lessons.size(), 1U) << "what came of a pod there nobody can say";
  EXPECT_EQ(figure(policy, "dropped_stale"), 1);
}

TEST_F(LivePpoLrt, LearnsNothingFromPodsThatWereDeletedOrNeverBound) {
  PpoLrt policy(without_load_control(), exploring(0), link_);
  publish(1, true);
  const PodId deleted = place(policy);
  cluster_.state.remove_pod(deleted);
  let_pass(policy, 30);
  const PodId failed = place(policy, false);
  cluster_.state.unassume(failed);
  let_pass(policy, 100);
  EXPECT_TRUE(link_.lessons.empty());
  EXPECT_EQ(figure(policy, "dropped_gone"), 2);
}

TEST_F(LivePpoLrt, LeavesItToTheRuleWhereANodeIsMissingAndBeginsAnewOnlyOnceThatLasts) {
  PpoLrt policy(without_load_control(), exploring(0), link_);
  publish(2, true);
  place(policy);
  cluster_.state.remove_node({1});
  place(policy);
  EXPECT_EQ(figure(policy, "decides"), 0);
  EXPECT_TRUE(link_.layouts.empty());
  let_pass(policy, 300);
  EXPECT_TRUE(link_.layouts.empty());
  cluster_.state.set_node(test_node(1));
  report();
  let_pass(policy, 10);
  cluster_.state.remove_node({1});
  let_pass(policy, 630);
  ASSERT_EQ(link_.layouts.size(), 1U);
  EXPECT_EQ(link_.layouts[0], (Names{"node-0", "node-2"}));
}

TEST_F(LivePpoLrt, KeepsPlacesByName) {
  PpoLrt policy(without_load_control(), exploring(0), link_);
  link_.publish({"node-2", "node-0", "node-1"}, ppo_lrt_inputs(3), 6, 2, true);
  place(policy);
  EXPECT_EQ(node_.slot, 0U) << "the second place is node-0's";
}

}  // namespace
}  // namespace evenkeel::scheduling
