#include "learning/actions.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace evenkeel::learning {
namespace {

TEST(Actions, PicksTheBestThatIsAllowedAndTheFirstAmongEquals) {
  const std::vector<Real> values{1, 5, 3, 3};
  EXPECT_EQ(best_allowed(values, {}), 1);
  EXPECT_EQ(best_allowed(values, Mask{1, 0, 1, 1}), 2);
  EXPECT_EQ(best_allowed(values, Mask{0, 0, 0, 0}), -1);
}

TEST(Actions, DrawsEveryAllowedActionEquallyOftenAndNoOther) {
  Random random(1);
  std::array<int, 4> counts{};
  for (int i = 0; i < 3000; ++i) ++counts[static_cast<std::size_t>(any_allowed(4, Mask{1, 0, 1, 1}, random))];
  EXPECT_EQ(counts[1], 0);
  for (const int i : {0, 2, 3}) EXPECT_NEAR(counts[static_cast<std::size_t>(i)], 1000, 100);
}

TEST(Actions, SharesProbabilityAmongWhatIsAllowed) {
  const ActionDistribution all = softmax(std::vector<Real>{0, std::log(3.0)}, {});
  EXPECT_NEAR(all.probability[0], 0.25, 1e-12);
  EXPECT_NEAR(all.entropy(), -0.25 * std::log(0.25) - 0.75 * std::log(0.75), 1e-12);
  const ActionDistribution masked = softmax(std::vector<Real>{7, 100, 7}, Mask{1, 0, 1});
  EXPECT_NEAR(masked.probability[0], 0.5, 1e-12);
  EXPECT_EQ(masked.probability[1], 0);
}

TEST(Actions, SurvivesLogitsThatWouldOverflow) {
  const ActionDistribution policy = softmax(std::vector<Real>{1e6, -1e6}, {});
  EXPECT_EQ(policy.probability[0], 1);
  EXPECT_TRUE(std::isfinite(policy.entropy()));
}

TEST(Actions, SamplesInProportionAndNeverWhatIsForbidden) {
  Random random(2);
  const ActionDistribution policy = softmax(std::vector<Real>{0, 50, std::log(3.0)}, Mask{1, 0, 1});
  std::array<int, 3> counts{};
  for (int i = 0; i < 4000; ++i) ++counts[static_cast<std::size_t>(policy.sample(random))];
  EXPECT_NEAR(counts[0], 1000, 100);
  EXPECT_EQ(counts[1], 0);
}

}  // namespace
}  // namespace evenkeel::learning
