#include "scheduling/policies/marl_reward.h"

#include <gtest/gtest.h>

#include <cmath>

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;

TEST(MarlReward, IsTheThesissToTheLastDigitOfItsLog) {
  // Chapter 5, both agents' "State after action" and "Reward of this step". Global utilisation there is one
  // less the ratios of the state.
  const double global[] = {1 - 1.0, 1 - 0.9874077246919368, 1 - 0.8999999985340964};
  const double first[] = {0.358, 0.15805022447199768, 0.0006466959635416667};
  EXPECT_NEAR(thesis_reward(first, global), -0.395118467131749, 1e-12);
  const double second[] = {0.054000000000000006, 0.130051239774303, 0.0};
  EXPECT_NEAR(thesis_reward(second, global), -0.45055941390862175, 1e-12);
}

TEST(MarlReward, OfTheThesisLikesFiftyToEightyPercentAndShunsFullNodes) {
  EXPECT_LT(thesis_reward_of(0.1), thesis_reward_of(0.4));
  EXPECT_LT(thesis_reward_of(0.4), 0);
  EXPECT_GT(thesis_reward_of(0.5), 0);
  EXPECT_LT(thesis_reward_of(0.5), thesis_reward_of(0.8));
  EXPECT_LT(thesis_reward_of(0.85), 0);
  EXPECT_EQ(thesis_reward_of(0.95), -60);
}

// Four nodes that use these shares of CPU; the first is one's own.
AgentView view_of(const std::vector<double>& cpu) {
  AgentView view;
  view.node.capacity = Usage{{10, 100, 100, 100, 100, 100}};
  view.node.used.of[0] = 10 * cpu.front();
  view.node.ahead.fill(view.node.used);
  double mean = 0, square = 0;
  for (const double u : cpu) {
    mean += u / static_cast<double>(cpu.size());
    square += u * u / static_cast<double>(cpu.size());
  }
  view.cluster.used[0] = static_cast<float>(mean);
  view.cluster.spread[0] = static_cast<float>(std::sqrt(square - mean * mean));
  view.cluster.nodes = static_cast<std::uint32_t>(cpu.size());
  return view;
}

// What eq. 13 says, softened as the reward is.
double imbalance_of(const std::vector<double>& cpu) {
  const AgentView view = view_of(cpu);
  return std::hypot(static_cast<double>(view.cluster.spread[0]), 0.02) / kDimensions;
}

TEST(MarlReward, IsTheDifferenceThePodMakes) {
  const Usage pod{{2, 0, 0, 0, 0, 0}};
  const std::vector<double> with{0.6, 0.3, 0.3, 0.2}, without{0.4, 0.3, 0.3, 0.2};
  const AgentView view = view_of(with);
  const double expected = -4 * (imbalance_of(with) - imbalance_of(without));
  EXPECT_NEAR(difference_reward(view.node, view.cluster, pod), expected, 1e-6);
  EXPECT_LT(expected, 0);
  // On the emptiest of uneven nodes it makes the cluster more even.
  const AgentView helps = view_of({0.4, 0.5, 0.5, 0.4});
  EXPECT_GT(difference_reward(helps.node, helps.cluster, pod), 0);
}

TEST(MarlReward, IsForeseenWhereNothingElseChanges) {
  AgentView before = view_of({0.4, 0.3, 0.3, 0.2});
  before.pod.expected = Usage{{2, 0, 0, 0, 0, 0}};
  const AgentView after = view_of({0.6, 0.3, 0.3, 0.2});
  const double came = difference_reward(after.node, after.cluster, before.pod.expected);
  for (const double foreseen : expected_differences(before)) EXPECT_NEAR(foreseen, came, 1e-6);
}

TEST(MarlReward, CountsAPodThatWillHaveEndedForNothing) {
  AgentView view = view_of({0.4, 0.3, 0.3, 0.2});
  view.pod.expected = Usage{{2, 0, 0, 0, 0, 0}};
  view.pod.life = 30;
  view.node.ahead_s = {5, 10, 60, 90, 120};
  const auto foreseen = expected_differences(view);
  EXPECT_LT(foreseen[0], -0.01);
  EXPECT_NEAR(foreseen[4], 0, 1e-9);
}

TEST(MarlReward, IsNothingWhereThereIsOneNodeOnly) {
  const AgentView view = view_of({0.4});
  EXPECT_EQ(difference_reward(view.node, view.cluster, Usage{{2, 0, 0, 0, 0, 0}}), 0);
  EXPECT_EQ(expected_difference_elsewhere(view), 0);
}

class Diary : public testing::Test {
 protected:
  static MarlRewardOptions differences() { return {MarlReward::difference, {10s, 30s}}; }
  static PodKey key() { return pod_key(PodId{7, 3}); }
  AgentView view() {
    AgentView view = view_of({0.4, 0.3, 0.3, 0.2});
    view.pod.pod = key();
    return view;
  }
  Time start_ = Time{} + 1h;
  MarlDiary::UseOf use_ = [](const PodKey&) { return Usage{{2, 0, 0, 0, 0, 0}}; };
};

TEST_F(Diary, AveragesDifferencesOverTheMoments) {
  MarlDiary diary({MarlEncoding::shared}, differences());
  ASSERT_TRUE(diary.settle(view(), true, start_));
  EXPECT_EQ(diary.review_at(), start_ + 10s);
  const AgentView then = view_of({0.6, 0.3, 0.3, 0.2});
  EXPECT_TRUE(diary.review(start_ + 10s, then, use_).empty());
  EXPECT_EQ(diary.review_at(), start_ + 30s);
  const auto done = diary.review(start_ + 30s, then, [](const PodKey&) { return std::nullopt; });
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[0].action, MarlDiary::kReject);
  EXPECT_EQ(done[1].action, MarlDiary::kAccept);
  const double once = difference_reward(then.node, then.cluster, Usage{{2, 0, 0, 0, 0, 0}});
  EXPECT_NEAR(done[1].reward, kDifferenceScale * once / 2, 1e-9) << "it had ended at the second look";
  EXPECT_EQ(diary.review_at(), Time::max());
}

TEST_F(Diary, LearnsNothingFromWhatOthersGotWhereRewardsAreDifferences) {
  MarlDiary diary({MarlEncoding::shared}, differences());
  EXPECT_TRUE(diary.settle(view(), false, start_));
  EXPECT_EQ(diary.review_at(), Time::max());
}

TEST_F(Diary, OfTheThesisIsReadAfterFifteenSecondsByWhoRejectedToo) {
  MarlDiary diary({}, {});
  ASSERT_TRUE(diary.settle(view(), false, start_));
  EXPECT_EQ(diary.review_at(), start_ + 15s);
  const auto done = diary.review(start_ + 15s, view(), use_);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].action, MarlDiary::kReject);
  EXPECT_NEAR(done[0].reward, thesis_reward(view().node, view().cluster), 1e-12);
  EXPECT_EQ(done[0].next_state.size(), 12U);
}

TEST_F(Diary, ForgetsABindingThatFailed) {
  MarlDiary diary({}, {});
  ASSERT_TRUE(diary.settle(view(), true, start_));
  EXPECT_TRUE(diary.forget(key()));
  EXPECT_FALSE(diary.forget(key()));
  EXPECT_TRUE(diary.review(start_ + 15s, view(), use_).empty());
}

TEST_F(Diary, TakesALimitedNumberAtOnce) {
  MarlDiary diary({}, {});
  for (std::size_t i = 0; i < MarlDiary::kMostPending; ++i) ASSERT_TRUE(diary.settle(view(), true, start_));
  EXPECT_FALSE(diary.settle(view(), true, start_));
}

}  // namespace
}  // namespace evenkeel::scheduling
