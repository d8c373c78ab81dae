#include "learning/algorithms/ppo.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace evenkeel::learning {

std::vector<Real> advantages_of(std::span<const PpoStep> steps, Real discount, Real trace_decay) {
  std::vector<Real> advantages(steps.size());
  Real later = 0;
  for (std::size_t t = steps.size(); t-- > 0;) {
    EVENKEEL_CHECK(steps[t].last || t + 1 < steps.size());
    const Real value_after = steps[t].last ? steps[t].value_after : steps[t + 1].value;
    const Real delta = steps[t].reward + discount * value_after - steps[t].value;
    later = delta + (steps[t].last ? 0 : discount * trace_decay * later);
    advantages[t] = later;
  }
  return advantages;
}

PolicyLoss clipped_loss(std::span<const Real> logits, std::span<const std::uint8_t> allowed, int action,
                        Real old_log_probability, Real advantage, Real clip, Real entropy_bonus) {
  const ActionDistribution now = softmax(logits, allowed);
  const Real ratio = std::exp(now.log_probability[action] - old_log_probability);
  const Real free = ratio * advantage, clipped = std::clamp(ratio, 1 - clip, 1 + clip) * advantage;
  const Real entropy = now.entropy();
  // d log p(action) / d logits = onehot - p; where the clipped side is the lower one, it does not move.
  const Real push = free <= clipped ? -free : 0;
  Vector gradient = -push * now.probability;
  gradient[action] += push;
  gradient.array() += entropy_bonus * now.probability.array() * (now.log_probability.array() + entropy);
  return {-std::min(free, clipped) - entropy_bonus * entropy, ratio, entropy, std::move(gradient)};
}

Ppo::Ppo(int state_size, int actions, PpoOptions options, Random& random)
    : options_(std::move(options)),
      actor_({state_size, options_.hidden, actions, options_.activation}, fitting(options_.activation),
             random),
      critic_({state_size, options_.hidden, 1, options_.activation}, fitting(options_.activation), random),
      actor_optimizer_(actor_.parameters().size(), options_.actor),
      critic_optimizer_(critic_.parameters().size(), options_.critic),
      actor_gradient_(actor_.parameters().size()),
      critic_gradient_(critic_.parameters().size()) {
  // A policy that begins near indifference explores; the last layer is made small for it (Baselines' code).
  const auto head = actor_.parameters().subspan(actor_.layers().back().weights);
  for (Real& weight : head) weight *= 0.01;
}

Ppo::Choice Ppo::act(std::span<const Real> state, std::span<const std::uint8_t> allowed,
                     Random& random) const {
  const Vector logits = actor_.forward(state);
  const ActionDistribution policy =
      softmax({logits.data(), static_cast<std::size_t>(logits.size())}, allowed);
  const int action = policy.sample(random);
  return {action, policy.log_probability[action], value(state)};
}

int Ppo::best(std::span<const Real> state, std::span<const std::uint8_t> allowed) const {
  const Vector logits = actor_.forward(state);
  const int action = best_allowed({logits.data(), static_cast<std::size_t>(logits.size())}, allowed);
  EVENKEEL_CHECK(action >= 0);
  return action;
}

bool Ppo::remember(PpoStep step) {
  const Real numbers[] = {step.log_probability, step.value, step.reward, step.value_after};
  if (!all_finite(step.state) || !all_finite(numbers)) {
    // The steps before and after it are not neighbours: what was remembered ends here, at its own estimate.
    if (!steps_.empty() && !steps_.back().last) {
      steps_.back().last = true;
      steps_.back().value_after = steps_.back().value;
    }
    return false;
  }
  steps_.push_back(std::move(step));
  return true;
}

Ppo::Figures Ppo::learn(Random& random) {
  Figures figures;
  if (steps_.empty()) return figures;
  const std::vector<Real> advantages = advantages_of(steps_, options_.discount, options_.trace_decay);
  std::vector<std::size_t> order(steps_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (int epoch = 0; epoch < options_.epochs; ++epoch) {
    random.shuffle(order);
    for (std::size_t begin = 0; begin < order.size(); begin += options_.minibatch)
      learn_from(std::span(order).subspan(begin, std::min(options_.minibatch, order.size() - begin)),
                 advantages, figures);
  }
  const Real all = static_cast<Real>(steps_.size()) * options_.epochs;
  for (Real* sum : {&figures.policy_loss, &figures.value_loss, &figures.entropy, &figures.clipped})
    *sum /= all;
  steps_.clear();
  return figures;
}

void Ppo::learn_from(std::span<const std::size_t> batch, std::span<const Real> advantages, Figures& figures) {
  const auto count = static_cast<Eigen::Index>(batch.size());
  Matrix states(actor_.shape().inputs, count);
  Vector advantage(count), wanted(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const std::size_t t = batch[static_cast<std::size_t>(i)];
    states.col(i) = as_vector(steps_[t].state);
    advantage[i] = advantages[t];
    wanted[i] = advantages[t] + steps_[t].value;
  }
  if (options_.normalise_advantages && count > 1) {
    advantage.array() -= advantage.mean();
    advantage /= std::sqrt(advantage.squaredNorm() / static_cast<Real>(count)) + 1e-8;
  }

  Network::Trace acting, judging;
  actor_.forward(states, acting);
  critic_.forward(states, judging);
  const Matrix error = judging.outputs() - wanted.transpose();
  Matrix logit_gradient(acting.outputs().rows(), count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const PpoStep& step = steps_[batch[static_cast<std::size_t>(i)]];
    const PolicyLoss loss =
        clipped_loss(column(acting.outputs(), i), step.allowed, step.action, step.log_probability,
                     advantage[i], options_.clip, options_.entropy_bonus);
    logit_gradient.col(i) = loss.logit_gradient / static_cast<Real>(count);
    figures.policy_loss += loss.loss;
    figures.value_loss += error(0, i) * error(0, i) / 2;
    figures.entropy += loss.entropy;
    figures.clipped += std::abs(loss.ratio - 1) > options_.clip ? 1 : 0;
  }
  actor_.backward(acting, logit_gradient, actor_gradient_);
  critic_.backward(judging, error / static_cast<Real>(count), critic_gradient_);
  if (!actor_optimizer_.step(actor_.parameters(), actor_gradient_)) ++figures.refused;
  if (!critic_optimizer_.step(critic_.parameters(), critic_gradient_)) ++figures.refused;
}

void Ppo::set_learning_rate(Real rate) {
  actor_optimizer_.set_learning_rate(rate);
  critic_optimizer_.set_learning_rate(rate);
}

SavedState Ppo::save() const {
  EVENKEEL_CHECK(steps_.empty());
  SavedState state;
  state.put("actor", actor_.parameters());
  state.put("critic", critic_.parameters());
  actor_optimizer_.save(state, "actor optimizer");
  critic_optimizer_.save(state, "critic optimizer");
  return state;
}

Status Ppo::restore(SavedState state) {
  state.reals("actor", actor_.parameters());
  state.reals("critic", critic_.parameters());
  actor_optimizer_.restore(state, "actor optimizer");
  critic_optimizer_.restore(state, "critic optimizer");
  return state.status();
}

}  // namespace evenkeel::learning
