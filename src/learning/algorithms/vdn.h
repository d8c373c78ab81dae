#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.h"
#include "learning/network.h"
#include "learning/optimizer.h"
#include "learning/real.h"
#include "learning/saved_state.h"

namespace evenkeel::learning {

// Value decomposition: Sunehag et al., "Value-Decomposition Networks For Cooperative Multi-Agent Learning",
// AAMAS 2018. All agents are one network and share one reward; the value of what they do together is the sum
// of what each is worth by itself, Q_tot = sum_i Q(s_i, a_i), and the sum is what is learnt. So whoever looks
// at its own state alone still does what is best for all.
//
// Assumes that of two actions, 0 and 1, exactly one agent takes 1: the best joint action is then that of the
// agent with the highest Q(s_i, 1) - Q(s_i, 0).
// Deviations: no recurrence, no messages; one step (discount 0), the reward being a mean over the time after.
struct VdnOptions {
  std::vector<int> hidden{16};
  Activation activation = Activation::tanh;
  InitialWeights initial = InitialWeights::xavier;
  OptimizerOptions optimizer{.learning_rate = 1e-3, .gradient_limit = 1};
  std::size_t batch = 32, capacity = 20000, learn_from = 200;
};

// What happened once: everybody's state, a column each, who took action 1, and what all were given for it.
struct JointExperience {
  Matrix states;
  std::size_t actor = 0;
  Real reward = 0;
};

class Vdn {
 public:
  Vdn(int state_size, VdnOptions options, Random& random);

  // False: there is a NaN or an infinity in it, and it is not kept.
  [[nodiscard]] bool remember(JointExperience experience);
  // One update; its loss. Nothing while there is too little to learn from.
  std::optional<Real> learn(Random& random);
  Real value(const JointExperience& experience) const;  // Q_tot

  Network& network() { return network_; }
  const Network& network() const { return network_; }
  void set_learning_rate(Real rate) { optimizer_.set_learning_rate(rate); }
  std::size_t size() const { return memory_.size(); }

  SavedState save() const;
  Status restore(SavedState state);

 private:
  VdnOptions options_;
  Network network_;
  Optimizer optimizer_;
  std::vector<JointExperience> memory_;
  std::size_t oldest_ = 0;
  std::vector<Real> gradient_;
};

}  // namespace evenkeel::learning
