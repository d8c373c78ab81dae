#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "learning/real.h"
#include "learning/saved_state.h"

namespace evenkeel::learning {

enum class OptimizerKind { adam, sgd };

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::adam;
  Real learning_rate = 1e-3;
  Real beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  // Adam (Kingma and Ba 2015, Algorithm 1)
  Real gradient_limit = 0;                          // on the norm of the whole gradient; 0: none
};

// Scales the gradient so that its norm is at most `limit`, keeping its direction. Returns the norm it had.
Real limit_norm(std::span<Real> gradient, Real limit);

// Steps down a gradient. A gradient with a NaN or an infinity, or too long to square, is refused whole:
// neither the parameters nor the moments change, so that one bad reward cannot ruin a model.
class Optimizer {
 public:
  Optimizer(std::size_t parameters, OptimizerOptions options);

  // False: refused. The gradient is used up either way: it is zeroed for the next sum.
  [[nodiscard]] bool step(std::span<Real> parameters, std::span<Real> gradient);

  void set_learning_rate(Real rate) { options_.learning_rate = rate; }

  // For checkpoints: Adam's first moments, then its second; empty for SGD.
  std::span<const Real> moments() const { return moments_; }
  std::uint64_t steps() const { return steps_; }
  void restore(std::span<const Real> moments, std::uint64_t steps);
  void save(SavedState& state, const std::string& name) const;
  void restore(SavedState& state, const std::string& name);

 private:
  OptimizerOptions options_;
  std::size_t size_;
  std::vector<Real> moments_;
  std::uint64_t steps_ = 0;
};

}  // namespace evenkeel::learning
