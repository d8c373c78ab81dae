#include "learning/algorithms/dqn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "learning/algorithms/chain.h"
#include "learning/gradient_check.h"

namespace evenkeel::learning {
namespace {

// Walks at random, learns at every step.
Dqn trained_on_chain(DqnOptions options, int steps, std::uint64_t seed) {
  Random random(seed);
  options.epsilon_start = options.epsilon_end = 1;
  options.optimizer.learning_rate = 0.003;
  options.replay.capacity = 1000;
  Dqn dqn(Chain::kStates, 2, options, random);
  Chain chain;
  for (int i = 0; i < steps; ++i) {
    EXPECT_TRUE(dqn.remember(chain.step(dqn.act(Chain::seen(chain.state), {}, random))));
    const auto figures = dqn.learn(random);
    EXPECT_TRUE(!figures || figures->applied);
  }
  return dqn;
}

void expect_the_chains_values(const Dqn& dqn, Real tolerance) {
  for (int state = 0; state < Chain::kStates; ++state) {
    const Matrix values = dqn.values(dqn.network(), as_vector(Chain::seen(state)));
    for (const int action : {Chain::kLeft, Chain::kRight})
      EXPECT_NEAR(values(action, 0), Chain::action_value(state, action, 0.9), tolerance)
          << "state " << state << " action " << action;
    EXPECT_EQ(dqn.best(Chain::seen(state), {}), Chain::kRight);
  }
}

TEST(Dqn, LearnsTheValuesOfTheChain) { expect_the_chains_values(trained_on_chain({}, 4000, 1), 0.03); }

TEST(Dqn, LearnsThemWithDoubleQ) {
  expect_the_chains_values(trained_on_chain({.double_q = true}, 4000, 2), 0.03);
}

TEST(Dqn, LearnsThemWithADuelingHead) {
  expect_the_chains_values(trained_on_chain({.dueling = true}, 4000, 3), 0.03);
}

TEST(Dqn, LearnsThemFromPrioritisedReplayWithDoubleDuelingAndLimitedErrors) {
  expect_the_chains_values(trained_on_chain({.replay = {.prioritised = true},
                                             .correction_updates = 4000,
                                             .error_limit = 1,
                                             .double_q = true,
                                             .dueling = true},
                                            4000, 4),
                           0.05);
}

// Three steps of a random walk are not three of the best policy: values are lower, but learnt sooner and
// still rank right first.
TEST(Dqn, RanksActionsByThreeStepReturns) {
  const Dqn dqn = trained_on_chain({.steps = 3}, 3000, 5);
  for (int state = 0; state < Chain::kStates; ++state)
    EXPECT_EQ(dqn.best(Chain::seen(state), {}), Chain::kRight);
  EXPECT_NEAR(dqn.values(dqn.network(), as_vector(Chain::seen(4)))(Chain::kRight, 0), 1, 0.05);
}

TEST(Dqn, HasTheGradientOfADuelingHead) {
  Random random(6);
  Network network({3, {8}, 5}, InitialWeights::he, random);
  const Matrix inputs = Matrix::NullaryExpr(3, 6, [&] { return random.normal(); });
  const Matrix wanted = Matrix::NullaryExpr(4, 6, [&] { return random.normal(); });
  const auto loss = [&] { return (dueling_values(network.forward(inputs)) - wanted).squaredNorm() / 2; };
  Network::Trace trace;
  network.forward(inputs, trace);
  std::vector<Real> gradient(network.parameters().size());
  network.backward(trace, dueling_gradient(dueling_values(trace.outputs()) - wanted), gradient);
  EXPECT_LT(gradient_error(network.parameters(), gradient, loss), 1e-6);
}

TEST(Dqn, NeverTakesAForbiddenActionNorBelievesItsValue) {
  Random random(7);
  const Mask allowed{1, 1, 0};
  DqnOptions options{.epsilon_start = 0.5, .epsilon_end = 0.5, .replay = {.capacity = 1000}};
  options.optimizer.learning_rate = 0.003;
  Dqn dqn(Chain::kStates, 3, options, random);
  dqn.network().parameters().back() = 10;  // the forbidden action promises the moon
  Chain chain;
  for (int i = 0; i < 4000; ++i) {
    const int action = dqn.act(Chain::seen(chain.state), allowed, random);
    ASSERT_NE(action, 2);
    Experience experience = chain.step(action);
    experience.next_allowed = allowed;
    ASSERT_TRUE(dqn.remember(experience));
    dqn.learn(random);
  }
  const Matrix values = dqn.values(dqn.network(), as_vector(Chain::seen(3)));
  EXPECT_NEAR(values(Chain::kRight, 0), 0.9, 0.05);
  EXPECT_GT(values(2, 0), 5);
}

TEST(Dqn, CopiesItsTargetEveryKUpdatesAndOnlyThen) {
  Random random(8);
  Dqn dqn(1, 2, {.learn_from = 1, .target_every = 3}, random);
  ASSERT_TRUE(dqn.remember({{1}, {}, 0, 1, {1}, {}, EpisodeEnd::terminal}));
  const auto first = [](const Network& network) {
    return std::vector<Real>(network.parameters().begin(), network.parameters().end());
  };
  const std::vector<Real> before = first(dqn.target());
  dqn.learn(random);
  dqn.learn(random);
  EXPECT_EQ(first(dqn.target()), before);
  dqn.learn(random);
  EXPECT_EQ(first(dqn.target()), first(dqn.network()));
  EXPECT_NE(first(dqn.target()), before);
}

// The online network likes the action the target network rates lower: plain Q-learning takes the target's own
// best, double Q-learning the target's word on the other.
TEST(Dqn, ChoosesByOneNetworkAndRatesByTheOtherIfDouble) {
  for (const bool double_q : {false, true}) {
    Random random(13);
    Dqn dqn(1, 2, {.hidden = {}, .learn_from = 1, .double_q = double_q}, random);
    const Vector rated = dqn.target().forward(std::vector<Real>{1});
    const int better = rated[0] > rated[1] ? 0 : 1;
    const std::span<Real> online = dqn.network().parameters();  // two weights, two biases
    std::fill(online.begin(), online.end(), Real{0});
    online[static_cast<std::size_t>(2 + (1 - better))] = 1;
    ASSERT_TRUE(dqn.remember({{1}, {}, better, 3, {1}, {}}));
    const Real wanted = 3 + 0.9 * rated[double_q ? 1 - better : better];
    EXPECT_NEAR(dqn.learn(random)->loss, wanted * wanted / 2, 1e-9);
  }
}

TEST(Dqn, ExploresAsScheduled) {
  Random random(9);
  Dqn dqn(1, 2, {.epsilon_start = 1, .epsilon_end = 0.2, .epsilon_steps = 100}, random);
  EXPECT_DOUBLE_EQ(dqn.epsilon(), 1);
  for (int i = 0; i < 50; ++i) dqn.act(std::vector<Real>{1}, {}, random);
  EXPECT_DOUBLE_EQ(dqn.epsilon(), 0.6);
  for (int i = 0; i < 500; ++i) dqn.act(std::vector<Real>{1}, {}, random);
  EXPECT_DOUBLE_EQ(dqn.epsilon(), 0.2);
}

TEST(Dqn, WaitsUntilThereIsEnoughToLearnFrom) {
  Random random(10);
  Dqn dqn(1, 2, {.learn_from = 2}, random);
  ASSERT_TRUE(dqn.remember({{1}, {}, 0, 1, {1}, {}}));
  EXPECT_FALSE(dqn.learn(random));
  ASSERT_TRUE(dqn.remember({{1}, {}, 0, 1, {1}, {}}));
  EXPECT_TRUE(dqn.learn(random));
}

TEST(Dqn, KeepsNoExperienceThatIsNotFiniteAndItsWeightsStaySound) {
  Random random(11);
  Dqn dqn(1, 2, {.learn_from = 1}, random);
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_FALSE(dqn.remember({{1}, {}, 0, nan, {1}, {}}));
  EXPECT_FALSE(dqn.remember({{nan}, {}, 0, 1, {1}, {}}));
  EXPECT_FALSE(dqn.remember({{1}, {}, 0, 1, {-1 / 0.0}, {}}));
  EXPECT_FALSE(dqn.learn(random)) << "nothing was kept";
  ASSERT_TRUE(dqn.remember({{1}, {}, 0, 1e300, {1}, {}}));  // finite, but its gradient's norm is not
  const auto figures = dqn.learn(random);
  ASSERT_TRUE(figures);
  EXPECT_FALSE(figures->applied);
  EXPECT_TRUE(all_finite(dqn.network().parameters()));
}

TEST(Dqn, LearnsTheSameWeightsFromTheSameSeedBitForBit) {
  const Dqn a = trained_on_chain({.replay = {.prioritised = true}}, 300, 12);
  const Dqn b = trained_on_chain({.replay = {.prioritised = true}}, 300, 12);
  EXPECT_TRUE(std::equal(a.network().parameters().begin(), a.network().parameters().end(),
                         b.network().parameters().begin()));
}

}  // namespace
}  // namespace evenkeel::learning
