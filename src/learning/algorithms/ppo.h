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

namespace evenkeel::learning {

// Proximal policy optimisation: Schulman et al., "Proximal Policy Optimization Algorithms", 2017 (eq. 7),
// with generalised advantage estimation (Schulman et al. 2016). Assumes a fixed number of actions, of which a
// mask may forbid some at any step. Deviations: docs/algorithms/ppo.md.
struct PpoOptions {
  std::vector<int> hidden{64, 64};                                        // Schulman 2017, section 6.1
  Activation activation = Activation::tanh;                               // the same
  Real clip = 0.2;                                                        // PPO-LRT; Schulman's best too
  Real discount = 0.99;                                                   // PPO-LRT
  Real trace_decay = 0.95;                                                // Schulman 2017, Table 3: lambda
  OptimizerOptions actor{.learning_rate = 3e-4, .gradient_limit = 0.5};   // PPO-LRT; limit: Baselines' code
  OptimizerOptions critic{.learning_rate = 1e-3, .gradient_limit = 0.5};  // the same
  int epochs = 10;                                                        // Schulman 2017, Table 3
  std::size_t minibatch = 64;                                             // the same
  Real entropy_bonus = 0;            // Schulman's in control; 0.01 in Atari
  bool normalise_advantages = true;  // Baselines' code
};

// A step of an episode under the policy being trained. The last of an episode, or of what there is of one,
// says so, and what the state after it is thought to be worth: 0 where nothing comes after.
struct PpoStep {
  std::vector<Real> state;
  Mask allowed;
  int action = 0;
  Real log_probability = 0, value = 0;  // as act() gave them
  Real reward = 0;
  bool last = false;
  Real value_after = 0;
};

// Advantages by GAE (eq. 11): sums of (gamma lambda)^l delta, within episodes.
std::vector<Real> advantages_of(std::span<const PpoStep> steps, Real discount, Real trace_decay);

// One step's clipped loss less its entropy bonus, and its gradient by the logits.
struct PolicyLoss {
  Real loss, ratio, entropy;
  Vector logit_gradient;
};
PolicyLoss clipped_loss(std::span<const Real> logits, std::span<const std::uint8_t> allowed, int action,
                        Real old_log_probability, Real advantage, Real clip, Real entropy_bonus);

class Ppo {
 public:
  struct Choice {
    int action;
    Real log_probability, value;
  };
  struct Figures {  // means over all epochs
    Real policy_loss = 0, value_loss = 0, entropy = 0;
    Real clipped = 0;  // share of steps whose ratio left the trusted range
    int refused = 0;   // updates with a gradient that was not finite
  };

  Ppo(int state_size, int actions, PpoOptions options, Random& random);

  Choice act(std::span<const Real> state, std::span<const std::uint8_t> allowed, Random& random) const;
  int best(std::span<const Real> state, std::span<const std::uint8_t> allowed) const;
  Real value(std::span<const Real> state) const { return critic_.forward(state)[0]; }

  // False: there is a NaN or an infinity in it, and it is not kept.
  [[nodiscard]] bool remember(PpoStep step);
  std::size_t remembered() const { return steps_.size(); }
  void forget() { steps_.clear(); }
  void set_learning_rate(Real rate);  // of both

  // Learns from all that is remembered, then forgets it. The last step remembered must be marked `last`.
  Figures learn(Random& random);

  Network& actor() { return actor_; }
  const Network& actor() const { return actor_; }
  Network& critic() { return critic_; }
  const Network& critic() const { return critic_; }

  // With nothing remembered: all that the next update depends on.
  SavedState save() const;
  Status restore(SavedState state);

 private:
  void learn_from(std::span<const std::size_t> batch, std::span<const Real> advantages, Figures& figures);

  PpoOptions options_;
  Network actor_, critic_;
  Optimizer actor_optimizer_, critic_optimizer_;
  std::vector<Real> actor_gradient_, critic_gradient_;
  std::vector<PpoStep> steps_;
};

}  // namespace evenkeel::learning
