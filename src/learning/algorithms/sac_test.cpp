#include "learning/algorithms/sac.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "learning/algorithms/chain.h"
#include "learning/gradient_check.h"

namespace evenkeel::learning {
namespace {

SacOptions quick(Real temperature) {
  SacOptions options{.hidden = {32}, .discount = 0.9, .target_rate = 0.05, .batch = 32};
  options.actor.learning_rate = options.critic.learning_rate = 0.005;
  options.initial_temperature = temperature;
  options.learn_temperature = false;
  return options;
}

TEST(SacLoss, HasItsPolicyGradient) {
  const Mask mask{1, 1, 0, 1};
  const std::vector<Real> values{1, -0.5, 9, 0.3};
  std::vector<Real> logits{0.3, -0.7, 5, 1.1};
  const auto loss = [&] { return soft_policy_loss(logits, mask, values, 0.3).loss; };
  const Vector gradient = soft_policy_loss(logits, mask, values, 0.3).logit_gradient;
  EXPECT_LT(gradient_error(logits, {gradient.data(), 4}, loss), 1e-6);
  EXPECT_EQ(gradient[2], 0);
}

TEST(SacLoss, HasItsPolicyGradientThroughTheActor) {
  Random random(1);
  Network actor({3, {8}, 3}, InitialWeights::he, random);
  const std::vector<Real> values{1, -0.5, 0.3};
  const Matrix state = Matrix::NullaryExpr(3, 1, [&] { return random.normal(); });
  const auto loss = [&] { return soft_policy_loss(column(actor.forward(state), 0), {}, values, 0.3).loss; };
  Network::Trace trace;
  actor.forward(state, trace);
  std::vector<Real> gradient(actor.parameters().size());
  actor.backward(trace, soft_policy_loss(column(trace.outputs(), 0), {}, values, 0.3).logit_gradient,
                 gradient);
  EXPECT_LT(gradient_error(actor.parameters(), gradient, loss), 1e-5);
}

TEST(SacLoss, IsLowestWhereThePolicyIsTheSoftmaxOfTheValues) {
  const std::vector<Real> values{1, 0.5, -0.2};
  const Real temperature = 0.4;
  const std::vector<Real> ideal{1 / temperature, 0.5 / temperature, -0.2 / temperature};
  const SoftPolicyLoss loss = soft_policy_loss(ideal, {}, values, temperature);
  EXPECT_LT(loss.logit_gradient.norm(), 1e-12);
  EXPECT_NEAR(-loss.loss, soft_value(softmax(ideal, {}), values, temperature), 1e-12);
  Real sum = 0;
  for (const Real value : values) sum += std::exp(value / temperature);
  EXPECT_NEAR(-loss.loss, temperature * std::log(sum), 1e-12);
}

// Arms that pay 1, 0.5 and 0; a fourth would pay 5 but is forbidden. The best policy is softmax(pay /
// temperature).
TEST(Sac, FindsTheSoftmaxOfABanditsPayAndNeverPullsTheForbiddenArm) {
  Random random(2);
  Sac sac(1, 4, quick(0.5), random);
  const Mask allowed{1, 1, 1, 0};
  const std::array<Real, 4> pay{1, 0.5, 0, 5};
  for (int i = 0; i < 2000; ++i) {
    const int arm = sac.act(std::vector<Real>{1}, allowed, random);
    ASSERT_NE(arm, 3);
    ASSERT_TRUE(sac.remember(
        {{1}, allowed, arm, pay[static_cast<std::size_t>(arm)], {1}, allowed, EpisodeEnd::terminal}));
    sac.learn(random);
  }
  const Vector logits = sac.actor().forward(std::vector<Real>{1});
  const ActionDistribution policy = softmax({logits.data(), 4}, allowed);
  const Real sum = std::exp(2.0) + std::exp(1.0) + 1;
  EXPECT_NEAR(policy.probability[0], std::exp(2.0) / sum, 0.03);
  EXPECT_NEAR(policy.probability[1], std::exp(1.0) / sum, 0.03);
}

Sac trained_on_chain(int steps, Real temperature, std::uint64_t seed) {
  Random random(seed);
  Sac sac(Chain::kStates, 2, quick(temperature), random);
  Chain chain;
  for (int i = 0; i < steps; ++i) {
    // Half of the steps at random, so that every state is seen often.
    const bool stray = random.chance(0.5);
    const int action = stray ? any_allowed(2, {}, random) : sac.act(Chain::seen(chain.state), {}, random);
    EXPECT_TRUE(sac.remember(chain.step(action)));
    const auto figures = sac.learn(random);
    EXPECT_TRUE(!figures || figures->applied);
  }
  return sac;
}

TEST(Sac, LearnsTheSoftValuesOfTheChain) {
  constexpr Real kTemperature = 0.1, kDiscount = 0.9;
  // Soft value iteration: V(s) = temperature log sum_a exp(Q(s, a) / temperature).
  std::array<std::array<Real, 2>, Chain::kStates> exact{};
  for (int sweep = 0; sweep < 300; ++sweep) {
    std::array<Real, Chain::kStates> value{};
    for (std::size_t s = 0; s < exact.size(); ++s)
      value[s] = kTemperature *
                 std::log(std::exp(exact[s][0] / kTemperature) + std::exp(exact[s][1] / kTemperature));
    for (std::size_t s = 0; s < exact.size(); ++s)
      exact[s] = {kDiscount * value[s == 0 ? 0 : s - 1],
                  s + 1 == exact.size() ? 1 : kDiscount * value[s + 1]};
  }
  Sac sac = trained_on_chain(5000, kTemperature, 3);
  for (int s = 0; s < Chain::kStates; ++s) {
    EXPECT_EQ(sac.best(Chain::seen(s), {}), Chain::kRight);
    for (const std::size_t critic : {0U, 1U}) {
      const Vector values = sac.critic(critic).forward(Chain::seen(s));
      for (const int a : {0, 1})
        EXPECT_NEAR(values[a], exact[static_cast<std::size_t>(s)][static_cast<std::size_t>(a)], 0.06)
            << "state " << s << " action " << a;
    }
  }
}

TEST(Sac, BelievesTheLowerOfItsTwoCritics) {
  Random random(7);
  SacOptions options = quick(0.5);
  options.hidden = {};
  options.learn_from = 1;
  Sac sac(1, 2, options, random);
  const std::vector<Real> state{1};
  const Vector logits = sac.actor().forward(state);
  const Vector first = sac.critic(0).forward(state), second = sac.critic(1).forward(state);
  const Vector lower = first.cwiseMin(second);
  const ActionDistribution policy = softmax({logits.data(), 2}, {});
  const Real value = soft_value(policy, {lower.data(), 2}, 0.5), wanted = 3 + 0.9 * value;
  ASSERT_TRUE(sac.remember({state, {}, 0, 3, state, {}}));
  const auto figures = sac.learn(random);
  ASSERT_TRUE(figures);
  EXPECT_NEAR(figures->critic_loss, (std::pow(first[0] - wanted, 2) + std::pow(second[0] - wanted, 2)) / 2,
              1e-9);
  EXPECT_NEAR(figures->policy_loss, -value, 1e-9);
}

TEST(Sac, CoolsWhereThePolicyIsWilderThanAskedAndWarmsWhereItIsTamer) {
  const auto temperature_after = [](Real target_share) {
    Random random(4);
    SacOptions options = quick(0.3);
    options.learn_temperature = true;
    options.temperature_rate = 0.01;
    options.target_entropy_share = target_share;
    Sac sac(1, 2, options, random);
    for (int i = 0; i < 300; ++i) {
      const int arm = sac.act(std::vector<Real>{1}, {}, random);
      EXPECT_TRUE(sac.remember({{1}, {}, arm, arm == 0 ? 1.0 : 0.0, {1}, {}, EpisodeEnd::terminal}));
      sac.learn(random);
    }
    return sac.temperature();
  };
  EXPECT_LT(temperature_after(0.01), 0.25);
  EXPECT_GT(temperature_after(0.98), 0.35);
}

TEST(Sac, KeepsNoExperienceThatIsNotFiniteAndItsWeightsStaySound) {
  Random random(5);
  SacOptions options = quick(0.5);
  options.learn_from = 1;
  Sac sac(1, 2, options, random);
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_FALSE(sac.remember({{1}, {}, 0, nan, {1}, {}}));
  EXPECT_FALSE(sac.learn(random)) << "nothing was kept";
  ASSERT_TRUE(sac.remember({{1}, {}, 0, 1e300, {1}, {}}));
  const auto figures = sac.learn(random);
  ASSERT_TRUE(figures);
  EXPECT_FALSE(figures->applied);
  EXPECT_TRUE(all_finite(sac.actor().parameters()) && all_finite(sac.critic(0).parameters()));
}

TEST(Sac, LearnsTheSameWeightsFromTheSameSeedBitForBit) {
  const Sac a = trained_on_chain(150, 0.1, 6), b = trained_on_chain(150, 0.1, 6);
  EXPECT_TRUE(std::equal(a.actor().parameters().begin(), a.actor().parameters().end(),
                         b.actor().parameters().begin()));
}

}  // namespace
}  // namespace evenkeel::learning
