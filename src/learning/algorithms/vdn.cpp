#include "learning/algorithms/vdn.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace evenkeel::learning {
Vdn::Vdn(int state_size, VdnOptions options, Random& random)
    : options_(std::move(options)),
      network_({state_size, options_.hidden, 2, options_.activation}, options_.initial, random),
      optimizer_(network_.parameters().size(), options_.optimizer),
      gradient_(network_.parameters().size()) {}

bool Vdn::remember(JointExperience experience) {
  if (!experience.states.allFinite() || !std::isfinite(experience.reward) || experience.states.cols() == 0)
    return false;
  if (memory_.size() < options_.capacity) {
    memory_.push_back(std::move(experience));
    return true;
  }
  memory_[oldest_] = std::move(experience);
  oldest_ = (oldest_ + 1) % memory_.size();
  return true;
}

Real Vdn::value(const JointExperience& experience) const {
  const Matrix values = network_.forward(experience.states);
  Real sum = 0;
  for (Eigen::Index i = 0; i < values.cols(); ++i) {
    const auto agent = static_cast<std::size_t>(i);
    sum += values(agent == experience.actor ? 1 : 0, i);
  }
  return sum;
}

std::optional<Real> Vdn::learn(Random& random) {
  if (memory_.size() < std::max<std::size_t>(options_.learn_from, 1)) return std::nullopt;
  Real loss = 0;
  for (std::size_t n = 0; n < options_.batch; ++n) {
    const JointExperience& experience = memory_[random.below(memory_.size())];
    Network::Trace trace;
    network_.forward(experience.states, trace);
    const Matrix& values = trace.outputs();
    Matrix slope = Matrix::Zero(values.rows(), values.cols());
    Real total = 0;
    for (Eigen::Index i = 0; i < values.cols(); ++i) {
      const auto agent = static_cast<std::size_t>(i);
      const Eigen::Index action = agent == experience.actor ? 1 : 0;
      slope(action, i) = 1;
      total += values(action, i);
    }
    const Real error = total - experience.reward, share = 1 / static_cast<Real>(options_.batch);
    loss += share * error * error / 2;
    network_.backward(trace, slope * (error * share), gradient_);
  }
  // A gradient that is not finite is refused, and the weights stay as they are.
  (void)optimizer_.step(network_.parameters(), gradient_);
  return loss;
}

SavedState Vdn::save() const {
  SavedState state;
  state.put("network", network_.parameters());
  optimizer_.save(state, "optimizer");
  state.put("oldest", oldest_);
  state.put("count", memory_.size());
  std::vector<Real> numbers;  // each: agents, actor, reward, states
  for (const JointExperience& experience : memory_) {
    numbers.push_back(static_cast<Real>(experience.states.cols()));
    numbers.push_back(static_cast<Real>(experience.actor));
    numbers.push_back(experience.reward);
    numbers.insert(numbers.end(), experience.states.data(),
                   experience.states.data() + experience.states.size());
  }
  state.put("memory", numbers);
  return state;
}

Status Vdn::restore(SavedState state) {
  state.reals("network", network_.parameters());
  optimizer_.restore(state, "optimizer");
  oldest_ = state.count("oldest");
  const std::uint64_t count = state.count("count");
  const std::vector<Real> numbers = state.reals("memory");
  const auto rows = static_cast<Eigen::Index>(network_.shape().inputs);
  memory_.clear();
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const bool has_head = at + 3 <= numbers.size() && numbers[at] >= 1 && numbers[at] <= 1e6;
    const auto agents = has_head ? static_cast<Eigen::Index>(numbers[at]) : 0;
    const auto size = static_cast<std::size_t>(rows * agents);
    if (!has_head || at + 3 + size > numbers.size() || numbers[at + 1] < 0 ||
        numbers[at + 1] >= numbers[at]) {
      state.fail("memory", std::to_string(count) + " joint experiences");
      break;
    }
    JointExperience experience{Matrix(rows, agents), static_cast<std::size_t>(numbers[at + 1]),
                               numbers[at + 2]};
    std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(at + 3), size, experience.states.data());
    memory_.push_back(std::move(experience));
    at += 3 + size;
  }
  if (memory_.size() > options_.capacity || (oldest_ > 0 && oldest_ >= memory_.size()))
    state.fail("memory", "at most " + std::to_string(options_.capacity) + " joint experiences");
  return state.status();
}

}  // namespace evenkeel::learning
