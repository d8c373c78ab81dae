#include "learning/optimizer.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace evenkeel::learning {

Real limit_norm(std::span<Real> gradient, Real limit) {
  const Real norm = std::sqrt(as_vector(gradient).squaredNorm());
  if (limit > 0 && norm > limit && std::isfinite(norm))
    for (Real& value : gradient) value *= limit / norm;
  return norm;
}

Optimizer::Optimizer(std::size_t parameters, OptimizerOptions options)
    : options_(options),
      size_(parameters),
      moments_(options.kind == OptimizerKind::adam ? 2 * parameters : 0) {}

bool Optimizer::step(std::span<Real> parameters, std::span<Real> gradient) {
  EVENKEEL_CHECK(parameters.size() == size_ && gradient.size() == size_);
  const bool usable = std::isfinite(limit_norm(gradient, options_.gradient_limit));
  if (usable && options_.kind == OptimizerKind::sgd) {
    for (std::size_t i = 0; i < size_; ++i) parameters[i] -= options_.learning_rate * gradient[i];
  } else if (usable) {
    const auto t = static_cast<double>(steps_ + 1);
    const Real rate = options_.learning_rate / (1 - std::pow(options_.beta1, t));
    const Real unbias = 1 / (1 - std::pow(options_.beta2, t));
    Real *const first = moments_.data(), *const second = first + size_;
    for (std::size_t i = 0; i < size_; ++i) {
      first[i] = options_.beta1 * first[i] + (1 - options_.beta1) * gradient[i];
      second[i] = options_.beta2 * second[i] + (1 - options_.beta2) * gradient[i] * gradient[i];
      parameters[i] -= rate * first[i] / (std::sqrt(second[i] * unbias) + options_.epsilon);
    }
  }
  std::fill(gradient.begin(), gradient.end(), Real{0});
  steps_ += usable ? 1 : 0;
  return usable;
}

void Optimizer::restore(std::span<const Real> moments, std::uint64_t steps) {
  EVENKEEL_CHECK(moments.size() == moments_.size());
  std::copy(moments.begin(), moments.end(), moments_.begin());
  steps_ = steps;
}

void Optimizer::save(SavedState& state, const std::string& name) const {
  state.put(name + " moments", moments_);
  state.put(name + " steps", steps_);
}

void Optimizer::restore(SavedState& state, const std::string& name) {
  state.reals(name + " moments", moments_);
  steps_ = state.count(name + " steps");
}

}  // namespace evenkeel::learning
