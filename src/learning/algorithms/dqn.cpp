#include "learning/algorithms/dqn.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace evenkeel::learning {
namespace {

Real between(Real start, Real end, std::uint64_t done, std::uint64_t all) {
  return done >= all ? end : start + (end - start) * static_cast<Real>(done) / static_cast<Real>(all);
}

}  // namespace

Matrix dueling_values(const Matrix& outputs) {
  const Eigen::Index actions = outputs.rows() - 1;
  Matrix values = outputs.topRows(actions);
  values.rowwise() += (outputs.row(actions) - values.colwise().mean()).eval();
  return values;
}

Matrix dueling_gradient(const Matrix& value_gradient) {
  const Eigen::Index actions = value_gradient.rows();
  Matrix gradient(actions + 1, value_gradient.cols());
  gradient.topRows(actions) = value_gradient.rowwise() - value_gradient.colwise().mean();
  gradient.row(actions) = value_gradient.colwise().sum();
  return gradient;
}

Dqn::Dqn(int state_size, int actions, DqnOptions options, Random& random)
    : options_(std::move(options)),
      actions_(static_cast<std::size_t>(actions)),
      online_({state_size, options_.hidden, actions + (options_.dueling ? 1 : 0), options_.activation},
              options_.initial, random),
      target_(online_),
      optimizer_(online_.parameters().size(), options_.optimizer),
      memory_(options_.replay),
      returns_(options_.steps, options_.discount),
      gradient_(online_.parameters().size()) {}

Matrix Dqn::values(const Network& network, const Matrix& states) const {
  const Matrix outputs = network.forward(states);
  return options_.dueling ? dueling_values(outputs) : outputs;
}

int Dqn::best(std::span<const Real> state, std::span<const std::uint8_t> allowed) const {
  // The value of the state shifts all actions alike, so a dueling network's advantages rank them as well.
  const Vector outputs = online_.forward(state);
  const int action = best_allowed({outputs.data(), actions_}, allowed);
  EVENKEEL_CHECK(action >= 0);
  return action;
}

Real Dqn::epsilon() const {
  return between(options_.epsilon_start, options_.epsilon_end, choices_, options_.epsilon_steps);
}

int Dqn::act(std::span<const Real> state, std::span<const std::uint8_t> allowed, Random& random) {
  const bool explore = random.chance(epsilon());
  ++choices_;
  return explore ? any_allowed(actions_, allowed, random) : best(state, allowed);
}

bool Dqn::remember(Experience experience) {
  if (!experience.is_finite()) return false;
  for (Transition& transition : returns_.add(std::move(experience))) memory_.add(std::move(transition));
  return true;
}

std::optional<Dqn::Figures> Dqn::learn(Random& random) {
  if (memory_.size() < std::max<std::size_t>(options_.learn_from, 1)) return std::nullopt;
  const Real correction =
      between(options_.correction_start, options_.correction_end, updates_, options_.correction_updates);
  const ReplayBuffer::Batch batch = memory_.sample(options_.batch, correction, random);

  const Matrix next = next_states_of(memory_, batch);
  const Matrix next_values = values(target_, next);
  const Matrix next_choice = options_.double_q ? values(online_, next) : next_values;
  Network::Trace trace;
  online_.forward(states_of(memory_, batch), trace);
  const Matrix predicted = options_.dueling ? dueling_values(trace.outputs()) : trace.outputs();

  Figures figures{0, 0, false};
  const Real share = 1 / static_cast<Real>(options_.batch);
  Matrix gradient = Matrix::Zero(predicted.rows(), predicted.cols());
  for (Eigen::Index i = 0; i < predicted.cols(); ++i) {
    const std::size_t index = batch.indices[static_cast<std::size_t>(i)];
    const Transition& t = memory_[index];
    // Where nothing may be done next, nothing more can be earned.
    const int follow_up = t.discount > 0 ? best_allowed(column(next_choice, i), t.next_allowed) : -1;
    const Real wanted = t.reward + (follow_up < 0 ? 0 : t.discount * next_values(follow_up, i));
    const Real error = predicted(t.action, i) - wanted;
    const Real limit = options_.error_limit > 0 ? options_.error_limit : std::abs(error);
    const Real slope =
        std::clamp(error, -limit, limit);  // Huber's: squared near zero, straight beyond the limit
    const Real weight = share * batch.weights[static_cast<std::size_t>(i)];
    gradient(t.action, i) = weight * slope;
    figures.loss += weight * slope * (error - slope / 2);
    figures.mean_value += share * predicted(t.action, i);
    memory_.set_error(index, error);
  }
  online_.backward(trace, options_.dueling ? dueling_gradient(gradient) : gradient, gradient_);
  figures.applied = optimizer_.step(online_.parameters(), gradient_);
  if (++updates_ % options_.target_every == 0) follow(target_, online_, 1);
  return figures;
}

SavedState Dqn::save() const {
  EVENKEEL_CHECK(returns_.empty());
  SavedState state;
  state.put("online", online_.parameters());
  state.put("target", target_.parameters());
  optimizer_.save(state, "optimizer");
  state.put("memory", memory_.save());
  state.put("choices", choices_);
  state.put("updates", updates_);
  return state;
}

Status Dqn::restore(SavedState state) {
  state.reals("online", online_.parameters());
  state.reals("target", target_.parameters());
  optimizer_.restore(state, "optimizer");
  choices_ = state.count("choices");
  updates_ = state.count("updates");
  const Status memory = memory_.restore(state.part("memory"));
  return state.status() ? memory : state.status();
}

}  // namespace evenkeel::learning
