#include "learning/algorithms/sac.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace evenkeel::learning {

SoftPolicyLoss soft_policy_loss(std::span<const Real> logits, std::span<const std::uint8_t> allowed,
                                std::span<const Real> values, Real temperature) {
  const ActionDistribution policy = softmax(logits, allowed);
  const Vector cost = temperature * policy.log_probability - as_vector(values);
  const Real loss = policy.probability.dot(cost);
  return {loss, policy.entropy(), policy.probability.array() * (cost.array() - loss)};
}

Real soft_value(const ActionDistribution& policy, std::span<const Real> values, Real temperature) {
  return policy.probability.dot(as_vector(values) - temperature * policy.log_probability);
}

Sac::Critic Sac::new_critic(int state_size, int actions, Random& random) const {
  Network network({state_size, options_.hidden, actions, options_.activation}, fitting(options_.activation),
                  random);
  const std::size_t size = network.parameters().size();
  return {network, network, Optimizer(size, options_.critic), std::vector<Real>(size)};
}

Sac::Sac(int state_size, int actions, SacOptions options, Random& random)
    : options_(std::move(options)),
      actor_({state_size, options_.hidden, actions, options_.activation}, fitting(options_.activation),
             random),
      actor_optimizer_(actor_.parameters().size(), options_.actor),
      actor_gradient_(actor_.parameters().size()),
      critics_{new_critic(state_size, actions, random), new_critic(state_size, actions, random)},
      log_temperature_(std::log(options_.initial_temperature)),
      temperature_optimizer_(1, {.learning_rate = options_.temperature_rate}),
      memory_(options_.replay),
      returns_(1, options_.discount) {}

int Sac::act(std::span<const Real> state, std::span<const std::uint8_t> allowed, Random& random) const {
  const Vector logits = actor_.forward(state);
  return softmax({logits.data(), static_cast<std::size_t>(logits.size())}, allowed).sample(random);
}

int Sac::best(std::span<const Real> state, std::span<const std::uint8_t> allowed) const {
  const Vector logits = actor_.forward(state);
  const int action = best_allowed({logits.data(), static_cast<std::size_t>(logits.size())}, allowed);
  EVENKEEL_CHECK(action >= 0);
  return action;
}

Real Sac::temperature() const { return std::exp(log_temperature_); }

bool Sac::remember(Experience experience) {
  if (!experience.is_finite()) return false;
  for (Transition& transition : returns_.add(std::move(experience))) memory_.add(std::move(transition));
  return true;
}

std::optional<Sac::Figures> Sac::learn(Random& random) {
  if (memory_.size() < std::max<std::size_t>(options_.learn_from, 1)) return std::nullopt;
  const ReplayBuffer::Batch batch = memory_.sample(options_.batch, 1, random);
  const auto count = static_cast<Eigen::Index>(options_.batch);
  const Real share = 1 / static_cast<Real>(options_.batch), alpha = temperature();
  const auto sampled = [&](Eigen::Index i) -> const Transition& {
    return memory_[batch.indices[static_cast<std::size_t>(i)]];
  };
  Figures figures{0, 0, 0, alpha, true};

  // Critics: towards r + gamma V(s'), with the lower of the two target critics (eq. 3, 10).
  const Matrix states = states_of(memory_, batch), next = next_states_of(memory_, batch);
  const Matrix next_logits = actor_.forward(next);
  const Matrix next_values = critics_[0].target.forward(next).cwiseMin(critics_[1].target.forward(next));
  Vector wanted(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Transition& t = sampled(i);
    wanted[i] = t.reward;
    if (t.discount > 0 && allowed_count(t.next_allowed, static_cast<std::size_t>(next_logits.rows())) > 0)
      wanted[i] += t.discount *
                   soft_value(softmax(column(next_logits, i), t.next_allowed), column(next_values, i), alpha);
  }
  Matrix values;  // of all actions, the lower of the two critics
  for (Critic& critic : critics_) {
    Network::Trace trace;
    critic.online.forward(states, trace);
    Matrix gradient = Matrix::Zero(trace.outputs().rows(), count);
    for (Eigen::Index i = 0; i < count; ++i) {
      const Real error = trace.outputs()(sampled(i).action, i) - wanted[i];
      gradient(sampled(i).action, i) = share * batch.weights[static_cast<std::size_t>(i)] * error;
      figures.critic_loss += share * error * error / 2;
      memory_.set_error(batch.indices[static_cast<std::size_t>(i)], error);
    }
    values = values.size() == 0 ? trace.outputs() : Matrix(values.cwiseMin(trace.outputs()));
    critic.online.backward(trace, gradient, critic.gradient);
    figures.applied &= critic.optimizer.step(critic.online.parameters(), critic.gradient);
    follow(critic.target, critic.online, options_.target_rate);
  }

  // Actor (eq. 12), then temperature: down while there is more entropy than asked for (eq. 11).
  Network::Trace trace;
  actor_.forward(states, trace);
  Matrix gradient(trace.outputs().rows(), count);
  Real excess = 0;
  for (Eigen::Index i = 0; i < count; ++i) {
    const Mask& allowed = sampled(i).allowed;
    const SoftPolicyLoss loss =
        soft_policy_loss(column(trace.outputs(), i), allowed, column(values, i), alpha);
    gradient.col(i) = share * loss.logit_gradient;
    const auto choices = static_cast<Real>(allowed_count(allowed, static_cast<std::size_t>(gradient.rows())));
    excess += share * (loss.entropy - options_.target_entropy_share * std::log(choices));
    figures.policy_loss += share * loss.loss;
    figures.entropy += share * loss.entropy;
  }
  actor_.backward(trace, gradient, actor_gradient_);
  figures.applied &= actor_optimizer_.step(actor_.parameters(), actor_gradient_);
  if (Real slope = alpha * excess; options_.learn_temperature)
    figures.applied &= temperature_optimizer_.step({&log_temperature_, 1}, {&slope, 1});
  return figures;
}

void Sac::set_learning_rate(Real rate) {
  actor_optimizer_.set_learning_rate(rate);
  for (Critic& critic : critics_) critic.optimizer.set_learning_rate(rate);
}

void Sac::begin_from_critics() {
  for (Critic& critic : critics_) follow(critic.target, critic.online, 1);
}

SavedState Sac::save() const {
  EVENKEEL_CHECK(returns_.empty());
  SavedState state;
  state.put("actor", actor_.parameters());
  actor_optimizer_.save(state, "actor optimizer");
  for (std::size_t i = 0; i < critics_.size(); ++i) {
    const std::string name = "critic " + std::to_string(i);
    state.put(name, critics_[i].online.parameters());
    state.put(name + " target", critics_[i].target.parameters());
    critics_[i].optimizer.save(state, name + " optimizer");
  }
  state.put("log temperature", std::span<const Real>(&log_temperature_, 1));
  temperature_optimizer_.save(state, "temperature optimizer");
  state.put("memory", memory_.save());
  return state;
}

Status Sac::restore(SavedState state) {
  state.reals("actor", actor_.parameters());
  actor_optimizer_.restore(state, "actor optimizer");
  for (std::size_t i = 0; i < critics_.size(); ++i) {
    const std::string name = "critic " + std::to_string(i);
    state.reals(name, critics_[i].online.parameters());
    state.reals(name + " target", critics_[i].target.parameters());
    critics_[i].optimizer.restore(state, name + " optimizer");
  }
  state.reals("log temperature", {&log_temperature_, 1});
  temperature_optimizer_.restore(state, "temperature optimizer");
  const Status memory = memory_.restore(state.part("memory"));
  return state.status() ? memory : state.status();
}

}  // namespace evenkeel::learning
