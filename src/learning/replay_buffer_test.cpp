#include "learning/replay_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace evenkeel::learning {
namespace {

Transition numbered(int number) { return {{static_cast<Real>(number)}, {}, number, 0, 0, {0}, {}}; }

Experience step(int number, EpisodeEnd end = EpisodeEnd::none) {
  const auto state = static_cast<Real>(number);
  return {{state}, {}, number, std::pow(10.0, number), {state + 1}, {}, end};
}

TEST(SumTree, FindsTheLeafAMarkFallsOn) {
  SumTree tree(5);
  for (std::size_t i = 0; i < 5; ++i) tree.set(i, i == 2 ? 0 : 1.0 + static_cast<double>(i));  // 1 2 0 4 5
  EXPECT_EQ(tree.total(), 12);
  EXPECT_EQ(tree.find(0), 0U);
  EXPECT_EQ(tree.find(2.9), 1U);
  EXPECT_EQ(tree.find(3), 3U);
  EXPECT_EQ(tree.find(11.9), 4U);
  EXPECT_EQ(tree.find(12), 4U) << "a mark at the very end, by rounding, must not fall into nothing";
}

TEST(ReplayBuffer, KeepsTheNewest) {
  ReplayBuffer buffer({.capacity = 3});
  for (int i = 0; i < 5; ++i) buffer.add(numbered(i));
  EXPECT_EQ(buffer.size(), 3U);
  int sum = 0;
  for (std::size_t i = 0; i < 3; ++i) sum += buffer[i].action;
  EXPECT_EQ(sum, 2 + 3 + 4);
}

TEST(ReplayBuffer, DrawsUniformlyUnlessToldOtherwise) {
  ReplayBuffer buffer({.capacity = 4});
  for (int i = 0; i < 4; ++i) buffer.add(numbered(i));
  buffer.set_error(0, 100);
  Random random(1);
  const auto batch = buffer.sample(8000, 1, random);
  std::vector<int> counts(4);
  for (const std::size_t index : batch.indices) ++counts[index];
  for (const int count : counts) EXPECT_NEAR(count, 2000, 150);
  for (const Real weight : batch.weights) ASSERT_EQ(weight, 1);
}

TEST(ReplayBuffer, DrawsInProportionToPriorityAndCorrectsForIt) {
  ReplayBuffer buffer({.capacity = 4, .prioritised = true, .priority_exponent = 0.5, .priority_floor = 0});
  for (int i = 0; i < 4; ++i) buffer.add(numbered(i));
  const std::vector<Real> errors{1, -4, 9, 16};  // priorities 1 2 3 4
  for (std::size_t i = 0; i < 4; ++i) buffer.set_error(i, errors[i]);
  Random random(2);
  const auto batch = buffer.sample(10000, 1, random);
  std::vector<int> counts(4);
  for (std::size_t i = 0; i < batch.indices.size(); ++i) {
    ++counts[batch.indices[i]];
    // Rarest weighs 1, the others in inverse proportion to how often they come.
    ASSERT_NEAR(batch.weights[i], 1.0 / static_cast<Real>(batch.indices[i] + 1), 1e-9);
  }
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(counts[static_cast<std::size_t>(i)], 1000 * (i + 1), 20);
}

TEST(ReplayBuffer, ShowsWhatIsNewBeforeWhatIsKnown) {
  ReplayBuffer buffer({.capacity = 100, .prioritised = true});
  for (int i = 0; i < 50; ++i) buffer.add(numbered(i));
  for (std::size_t i = 0; i < 50; ++i) buffer.set_error(i, 0);
  buffer.add(numbered(99));
  Random random(3);
  const auto batch = buffer.sample(10, 0.4, random);
  EXPECT_GT(std::count(batch.indices.begin(), batch.indices.end(), 50U), 7);
}

TEST(ReplayBuffer, IgnoresAnErrorThatIsNotFinite) {
  ReplayBuffer buffer({.capacity = 2, .prioritised = true});
  buffer.add(numbered(0));
  buffer.add(numbered(1));
  buffer.set_error(0, std::numeric_limits<Real>::quiet_NaN());
  Random random(4);
  for (const Real weight : buffer.sample(100, 1, random).weights) ASSERT_TRUE(std::isfinite(weight));
}

TEST(NStepReturns, FoldsThreeStepsAsByHand) {
  NStepReturns returns(3, 0.5);
  EXPECT_TRUE(returns.add(step(0)).empty());
  EXPECT_TRUE(returns.add(step(1)).empty());
  const auto complete = returns.add(step(2));
  ASSERT_EQ(complete.size(), 1U);
  EXPECT_EQ(complete[0].action, 0);
  EXPECT_DOUBLE_EQ(complete[0].reward, 1 + 0.5 * 10 + 0.25 * 100);
  EXPECT_DOUBLE_EQ(complete[0].discount, 0.125);
  EXPECT_EQ(complete[0].next_state, std::vector<Real>{3});
}

TEST(NStepReturns, FlushesAtAnEndAndTellsDeathFromAStop) {
  for (const EpisodeEnd end : {EpisodeEnd::terminal, EpisodeEnd::cut}) {
    NStepReturns returns(3, 0.5);
    EXPECT_TRUE(returns.add(step(0)).empty());
    const auto complete = returns.add(step(1, end));
    ASSERT_EQ(complete.size(), 2U);
    EXPECT_DOUBLE_EQ(complete[0].reward, 1 + 0.5 * 10);
    EXPECT_DOUBLE_EQ(complete[1].reward, 10);
    EXPECT_DOUBLE_EQ(complete[0].discount, end == EpisodeEnd::terminal ? 0 : 0.25);
    EXPECT_DOUBLE_EQ(complete[1].discount, end == EpisodeEnd::terminal ? 0 : 0.5);
    EXPECT_TRUE(returns.add(step(5)).empty()) << "a new episode begins empty";
  }
}

TEST(NStepReturns, PassesSingleStepsThrough) {
  NStepReturns returns(1, 0.9);
  const auto complete = returns.add(step(2));
  ASSERT_EQ(complete.size(), 1U);
  EXPECT_DOUBLE_EQ(complete[0].reward, 100);
  EXPECT_DOUBLE_EQ(complete[0].discount, 0.9);
}

}  // namespace
}  // namespace evenkeel::learning
