#include "scheduling/node_kernels.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "base/random.h"

namespace evenkeel::scheduling {
namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();

std::vector<std::uint8_t> draw_flags(Random& random, std::size_t n) {
  std::vector<std::uint8_t> flags(n);
  const double chance = random.uniform();
  for (std::uint8_t& flag : flags) flag = random.chance(chance);
  return flags;
}

TEST(NodeKernels, ClearTheSameNodesAsTheirPlainTwins) {
  Random random(1);
  for (std::size_t n = 0; n < 300; ++n) {
    std::vector<double> cpu(n), memory(n);
    std::vector<float> pods(n);
    for (std::size_t i = 0; i < n; ++i) {
      cpu[i] = static_cast<double>(random.below(20)) - 5;
      memory[i] = static_cast<double>(random.below(20)) - 5;
      pods[i] = static_cast<float>(random.below(4)) - 1;
    }
    for (const double asked : {-1e300, 0.0, 3.0, 10.0}) {
      std::vector<std::uint8_t> by_vector = draw_flags(random, n), by_hand = by_vector;
      const FitColumns columns{cpu.data(), memory.data(), pods.data()};
      clear_unfit(columns, asked, 5, n, by_vector.data());
      plain::clear_unfit(columns, asked, 5, 0, n, by_hand.data());
      ASSERT_EQ(by_vector, by_hand) << n;
    }
  }
}

TEST(NodeKernels, FindTheSameHighestScoreAsTheirPlainTwins) {
  Random random(2);
  for (std::size_t n = 0; n < 300; ++n) {
    std::vector<float> scores(n);
    for (float& score : scores) score = static_cast<float>(random.below(20)) - 10;
    const auto feasible = draw_flags(random, n);
    const float top = plain::highest_score(scores.data(), feasible.data(), 0, n);
    ASSERT_EQ(highest_score(scores.data(), feasible.data(), n), top) << n;
    std::size_t ties = 0, set = 0;
    for (std::size_t i = 0; i < n; ++i) {
      ties += feasible[i] && scores[i] == top;
      set += feasible[i];
    }
    EXPECT_EQ(count_equal(scores.data(), feasible.data(), n, top), ties);
    EXPECT_EQ(count_set(feasible.data(), n), set);
  }
}

TEST(NodeKernels, FindNoHighestScoreWhereNoNodeIsFeasible) {
  const std::vector<float> scores(40, 1.0F);
  const std::vector<std::uint8_t> feasible(40);
  EXPECT_EQ(highest_score(scores.data(), feasible.data(), 40), kNone);
}

}  // namespace
}  // namespace evenkeel::scheduling
