#include "learning/algorithms/evolution.h"

#include <gtest/gtest.h>

#include <cmath>

namespace evenkeel::learning {
namespace {

Real distance_to_answer(std::span<const Real> x) {
  Real sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += std::pow(x[i] - static_cast<Real>(i), 2);
  return sum;
}

void live(Evolution& evolution, int generations) {
  for (int g = 0; g < generations; ++g) {
    std::vector<Real> results;
    for (std::size_t i = 0; i < evolution.trials(); ++i)
      results.push_back(distance_to_answer(evolution.trial(i)));
    evolution.advance(results);
  }
}

TEST(Evolution, FindsAKnownAnswerFromResultsAlone) {
  Evolution evolution(std::vector<Real>(5, -1.0), {}, Random(1));
  EXPECT_GT(distance_to_answer(evolution.parameters()), 50);
  live(evolution, 300);
  EXPECT_LT(distance_to_answer(evolution.parameters()), 0.1);
}

TEST(Evolution, TriesMirroredPairs) {
  const Evolution evolution({1, 2, 3}, {}, Random(1));
  const std::vector<Real> one = evolution.trial(4), other = evolution.trial(5);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(one[i] + other[i], 2 * evolution.parameters()[i], 1e-12);
  EXPECT_NE(one, evolution.trial(6));
}

TEST(Evolution, TakesATrialWithoutAResultForTheWorst) {
  Evolution evolution({0}, {.pairs = 1}, Random(1));
  const Real tried = evolution.trial(0)[0];
  evolution.advance(std::vector<Real>{std::nan(""), 7});
  EXPECT_LT(evolution.parameters()[0] * tried, 0) << "away from the trial that failed";
}

TEST(Evolution, GoesOnAsIfNothingHadHappened) {
  Evolution one(std::vector<Real>(3, 0.0), {}, Random(1)), other(std::vector<Real>(3, 9.0), {}, Random(1));
  live(one, 5);
  Result<SavedState> saved = SavedState::parse(one.save().bytes());
  ASSERT_TRUE(saved);
  ASSERT_TRUE(other.restore(*saved));
  live(one, 5);
  live(other, 5);
  EXPECT_EQ(one.parameters(), other.parameters());
}

}  // namespace
}  // namespace evenkeel::learning
