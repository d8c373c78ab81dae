#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "learning/actions.h"
#include "learning/network.h"
#include "learning/optimizer.h"
#include "learning/real.h"
#include "learning/replay_buffer.h"

namespace evenkeel::learning {

// Deep Q-learning: Mnih et al., "Human-level control through deep reinforcement learning", Nature 2015.
// Options: double (van Hasselt et al. 2016), dueling (Wang et al. 2016), prioritised replay (Schaul et al.
// 2016), n-step returns. Assumes a fixed number of actions, of which a mask may forbid some at any step.
// Deviations: docs/algorithms/dqn.md.
struct DqnOptions {
  // Defaults are DRS's; where the paper is silent, its authors' code's (FACTS E).
  std::vector<int> hidden{50};                        // code
  Activation activation = Activation::relu;           // code
  InitialWeights initial = InitialWeights::narrow;    // code: N(0, 0.1)
  OptimizerOptions optimizer{.learning_rate = 0.01};  // code: Adam
  Real discount = 0.9;                                // code
  std::size_t batch = 32;                             // code
  std::size_t learn_from = 32;                        // transitions needed before the first update; ours
  std::uint64_t target_every = 50;                    // paper: K
  Real epsilon_start = 0.1, epsilon_end = 0.1;        // paper: constant
  std::uint64_t epsilon_steps = 0;                    // choices over which epsilon goes from start to end
  ReplayOptions replay{};                             // paper: N = 300, uniform
  Real correction_start = 0.4, correction_end = 1;    // Schaul, Table 3: beta
  std::uint64_t correction_updates = 10000;           // ours
  int steps = 1;                                      // n of n-step returns
  Real error_limit = 0;                               // Mnih: 1; 0: plain squared error, as DRS has it
  bool double_q = false, dueling = false;
};

// Dueling: the network's last output is the state's value V, the others are advantages A, and
// Q = V + A - mean(A) (Wang eq. 9). And the way back, from d loss / d Q to d loss / d outputs.
Matrix dueling_values(const Matrix& outputs);
Matrix dueling_gradient(const Matrix& value_gradient);

class Dqn {
 public:
  struct Figures {
    Real loss;        // mean over the batch, before the update
    Real mean_value;  // of the actions taken: the first thing to look at when learning diverges
    bool applied;     // false: the gradient was not finite and was refused
  };

  Dqn(int state_size, int actions, DqnOptions options, Random& random);

  // Explores with probability epsilon; never a forbidden action. One at least must be allowed.
  int act(std::span<const Real> state, std::span<const std::uint8_t> allowed, Random& random);
  int best(std::span<const Real> state, std::span<const std::uint8_t> allowed) const;
  Real epsilon() const;

  // False: there is a NaN or an infinity in it, and it is not kept.
  [[nodiscard]] bool remember(Experience experience);

  // One update; nothing while there is too little to learn from.
  std::optional<Figures> learn(Random& random);

  Matrix values(const Network& network, const Matrix& states) const;
  Network& network() { return online_; }
  const Network& network() const { return online_; }
  const Network& target() const { return target_; }
  void copy_to_target() { follow(target_, online_, 1); }  // after the weights were set from outside
  const ReplayBuffer& memory() const { return memory_; }
  Optimizer& optimizer() { return optimizer_; }
  std::uint64_t updates() const { return updates_; }

  // Between episodes: all that the next update depends on. Restored into one of the same shape and options.
  SavedState save() const;
  Status restore(SavedState state);

 private:
  DqnOptions options_;
  std::size_t actions_;
  Network online_, target_;
  Optimizer optimizer_;
  ReplayBuffer memory_;
  NStepReturns returns_;
  std::vector<Real> gradient_;
  std::uint64_t choices_ = 0, updates_ = 0;
};

}  // namespace evenkeel::learning
