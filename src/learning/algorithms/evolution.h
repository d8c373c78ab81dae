#pragma once
#include <span>
#include <vector>

#include "base/random.h"
#include "learning/optimizer.h"
#include "learning/real.h"
#include "learning/saved_state.h"

namespace evenkeel::learning {

// Evolution strategies: Salimans et al., "Evolution Strategies as a Scalable Alternative to Reinforcement
// Learning", 2017: the gradient of the expected result under noise on the parameters, estimated from mirrored
// pairs of trials whose results count by their rank. For objectives of whole worlds, which no single step's
// reward adds up to. Trials of a generation are independent of each other.
struct EvolutionOptions {
  std::size_t pairs = 12;  // two trials each
  Real deviation = 0.1;    // of the noise
  OptimizerOptions optimizer{.learning_rate = 0.05};
  Real decay = 0;  // of the parameters, per generation
};

class Evolution {
 public:
  Evolution(std::vector<Real> begin, EvolutionOptions options, Random random);

  std::size_t trials() const { return 2 * options_.pairs; }
  std::vector<Real> trial(std::size_t index) const;  // of this generation: the parameters to try
  // The results of all trials, lower being better; the next generation begins. Trials without a result (NaN)
  // count as the worst.
  void advance(std::span<const Real> results);

  const std::vector<Real>& parameters() const { return mean_; }
  std::uint64_t generation() const { return generation_; }

  SavedState save() const;
  Status restore(SavedState state);

 private:
  std::vector<Real> noise(std::size_t pair) const;

  EvolutionOptions options_;
  Random random_;  // forked by generation and pair, never drawn from: nothing of it need be saved
  std::vector<Real> mean_;
  Optimizer optimizer_;
  std::uint64_t generation_ = 0;
};

}  // namespace evenkeel::learning
