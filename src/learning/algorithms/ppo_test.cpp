#include "learning/algorithms/ppo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "learning/algorithms/chain.h"
#include "learning/gradient_check.h"

namespace evenkeel::learning {
namespace {

const std::vector<Real> kLogits{0.3, -0.7, 1.1, 5.0};
const Mask kMask{1, 1, 1, 0};

TEST(PpoLoss, HasItsGradientOnBothSidesOfTheClip) {
  for (const Real old : {-1.2, -3.0, -0.2}) {  // ratio inside, above and below the trusted range
    for (const Real advantage : {1.5, -1.5}) {
      std::vector<Real> logits = kLogits;
      const auto loss = [&] { return clipped_loss(logits, kMask, 0, old, advantage, 0.2, 0.05).loss; };
      const Vector gradient = clipped_loss(logits, kMask, 0, old, advantage, 0.2, 0.05).logit_gradient;
      const std::span<const Real> flat(gradient.data(), logits.size());
      EXPECT_LT(gradient_error(logits, flat, loss), 1e-6) << "old " << old << " advantage " << advantage;
      EXPECT_EQ(gradient[3], 0) << "a forbidden action's logit stays";
    }
  }
}

TEST(PpoLoss, StopsPushingOnceTheRatioIsBeyondTheClip) {
  const Real now = softmax(kLogits, kMask).log_probability[0];
  const auto push = [&](Real ratio, Real advantage) {
    return clipped_loss(kLogits, kMask, 0, now - std::log(ratio), advantage, 0.2, 0).logit_gradient.norm();
  };
  EXPECT_EQ(push(1.3, 1), 0);
  EXPECT_EQ(push(0.7, -1), 0);
  EXPECT_GT(push(1.3, -1), 0) << "a mistake that grew is always undone";
  EXPECT_GT(push(0.7, 1), 0);
  EXPECT_GT(push(1.1, 1), 0);
}

TEST(PpoLoss, HasItsGradientThroughTheActor) {
  Random random(1);
  Network actor({3, {8}, 4, Activation::tanh}, InitialWeights::xavier, random);
  const Matrix state = Matrix::NullaryExpr(3, 1, [&] { return random.normal(); });
  const auto loss = [&] {
    return clipped_loss(column(actor.forward(state), 0), kMask, 1, -1, 2, 0.9, 0.01).loss;
  };
  Network::Trace trace;
  actor.forward(state, trace);
  std::vector<Real> gradient(actor.parameters().size());
  actor.backward(trace, clipped_loss(column(trace.outputs(), 0), kMask, 1, -1, 2, 0.9, 0.01).logit_gradient,
                 gradient);
  EXPECT_LT(gradient_error(actor.parameters(), gradient, loss), 1e-5);
}

TEST(Ppo, EstimatesAdvantagesAsByHand) {
  std::vector<PpoStep> steps(4);
  const std::vector<Real> rewards{1, 2, 3, 4}, values{0.5, 1, -1, 2};
  for (std::size_t i = 0; i < 4; ++i) {
    steps[i].reward = rewards[i];
    steps[i].value = values[i];
  }
  steps[1].last = true;  // an episode that ended
  steps[3].last = true;  // one that was cut, where 10 more was expected
  steps[3].value_after = 10;
  const std::vector<Real> advantages = advantages_of(steps, 0.9, 0.5);
  const Real delta1 = 2 - 1, delta0 = 1 + 0.9 * 1 - 0.5, delta3 = 4 + 0.9 * 10 - 2, delta2 = 3 + 0.9 * 2 + 1;
  EXPECT_DOUBLE_EQ(advantages[0], delta0 + 0.45 * delta1);
  EXPECT_DOUBLE_EQ(advantages[1], delta1);
  EXPECT_DOUBLE_EQ(advantages[2], delta2 + 0.45 * delta3);
  EXPECT_DOUBLE_EQ(advantages[3], delta3);
}

PpoOptions quick() {
  PpoOptions options{.hidden = {16}, .discount = 0.9, .epochs = 4, .minibatch = 32};
  options.actor.learning_rate = options.critic.learning_rate = 0.01;
  return options;
}

Ppo trained_on_chain(int rounds, std::uint64_t seed) {
  Random random(seed);
  Ppo ppo(Chain::kStates, 2, quick(), random);
  Chain chain;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 64; ++i) {
      const std::vector<Real> state = Chain::seen(chain.state);
      const Ppo::Choice choice = ppo.act(state, {}, random);
      const Experience e = chain.step(choice.action);
      const bool ended = e.end == EpisodeEnd::terminal, last = ended || i == 63;
      EXPECT_TRUE(ppo.remember({state,
                                {},
                                choice.action,
                                choice.log_probability,
                                choice.value,
                                e.reward,
                                last,
                                ended ? 0 : ppo.value(e.next_state)}));
    }
    EXPECT_EQ(ppo.learn(random).refused, 0);
  }
  return ppo;
}

TEST(Ppo, WalksTheChainAndKnowsWhatItIsWorth) {
  const Ppo ppo = trained_on_chain(80, 2);
  for (int state = 0; state < Chain::kStates; ++state) {
    EXPECT_EQ(ppo.best(Chain::seen(state), {}), Chain::kRight);
    EXPECT_NEAR(ppo.value(Chain::seen(state)), Chain::best_value(state, 0.9), 0.08) << "state " << state;
  }
}

// Two states, three arms: the arm of the state's number pays 1, the third would pay 5 but is forbidden.
TEST(Ppo, LearnsWhichArmPaysWhereAndNeverPullsTheForbiddenOne) {
  Random random(3);
  Ppo ppo(2, 3, quick(), random);
  const Mask allowed{1, 1, 0};
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 64; ++i) {
      const int which = static_cast<int>(random.below(2));
      const std::vector<Real> state{which == 0 ? 1.0 : 0.0, which == 1 ? 1.0 : 0.0};
      const Ppo::Choice choice = ppo.act(state, allowed, random);
      ASSERT_NE(choice.action, 2);
      const Real reward = choice.action == which ? 1 : 0;
      ASSERT_TRUE(
          ppo.remember({state, allowed, choice.action, choice.log_probability, choice.value, reward, true}));
    }
    ppo.learn(random);
  }
  for (const int which : {0, 1}) {
    const Vector logits =
        ppo.actor().forward(std::vector<Real>{which == 0 ? 1.0 : 0.0, which == 1 ? 1.0 : 0.0});
    EXPECT_GT(softmax({logits.data(), 3}, allowed).probability[which], 0.95);
  }
}

TEST(Ppo, KeepsItsEntropyWhereThatIsPaidFor) {
  const auto entropy_after = [](Real bonus) {
    Random random(4);
    PpoOptions options = quick();
    options.entropy_bonus = bonus;
    options.normalise_advantages = false;
    Ppo ppo(1, 2, options, random);
    Real entropy = 0;  // the mean of the last ten rounds
    for (int round = 0; round < 40; ++round) {
      for (int i = 0; i < 128; ++i) {
        const Ppo::Choice choice = ppo.act(std::vector<Real>{1}, {}, random);
        EXPECT_TRUE(ppo.remember({{1},
                                  {},
                                  choice.action,
                                  choice.log_probability,
                                  choice.value,
                                  choice.action == 0 ? 1.0 : 0.0,
                                  true}));
      }
      const Ppo::Figures figures = ppo.learn(random);
      if (round >= 30) entropy += figures.entropy / 10;
    }
    return entropy;
  };
  EXPECT_LT(entropy_after(0), 0.2);
  // Paid 1 per nat, the best policy prefers the better arm by e to 1: entropy 0.582.
  EXPECT_NEAR(entropy_after(1), 0.582, 0.06);
}

TEST(Ppo, ForgetsWhatItLearntFromAndKeepsNothingThatIsNotFinite) {
  Random random(5);
  Ppo ppo(1, 2, quick(), random);
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  ASSERT_TRUE(ppo.remember({{1}, {}, 0, -0.7, 0, 1}));
  EXPECT_FALSE(ppo.remember({{1}, {}, 0, -0.7, 0, nan}));
  EXPECT_FALSE(ppo.remember({{nan}, {}, 0, -0.7, 0, 1}));
  EXPECT_EQ(ppo.remembered(), 1U);
  EXPECT_EQ(ppo.learn(random).refused, 0);
  EXPECT_EQ(ppo.remembered(), 0U);
  EXPECT_TRUE(all_finite(ppo.actor().parameters()));
}

TEST(Ppo, LearnsTheSameWeightsFromTheSameSeedBitForBit) {
  const Ppo a = trained_on_chain(3, 6), b = trained_on_chain(3, 6);
  EXPECT_TRUE(std::equal(a.actor().parameters().begin(), a.actor().parameters().end(),
                         b.actor().parameters().begin()));
}

}  // namespace
}  // namespace evenkeel::learning
