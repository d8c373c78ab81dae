#pragma once
#include <array>
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

// Soft actor-critic for discrete actions: Christodoulou, "Soft Actor-Critic for Discrete Action Settings",
// 2019, after Haarnoja et al. 2018. Expectations over actions are sums, not samples. Assumes a fixed number
// of actions, of which a mask may forbid some at any step. Deviations: docs/algorithms/sac.md.
struct SacOptions {
  std::vector<int> hidden{64, 64};           // ours: the paper's are convolutions for pictures
  Activation activation = Activation::relu;  // Christodoulou, appendix B
  OptimizerOptions actor{.learning_rate = 3e-4}, critic{.learning_rate = 3e-4};  // the same
  Real temperature_rate = 3e-4;                                                  // the same
  Real discount = 0.99;                                                          // the same
  Real target_rate = 0.005;                  // Haarnoja 2018: tau, every update
  std::size_t batch = 64;                    // Christodoulou, appendix B
  std::size_t learn_from = 64;               // transitions needed before the first update; ours
  ReplayOptions replay{.capacity = 100000};  // a tenth of the paper's: our episodes are short
  Real initial_temperature = 1;              // the authors' code
  bool learn_temperature = true;             // Haarnoja 2018b
  Real target_entropy_share = 0.98;          // of log(number of allowed actions); Christodoulou, App. B
};

// One state's policy loss, sum_a p (temperature log p - value) (eq. 12), and its gradient by the logits.
struct SoftPolicyLoss {
  Real loss, entropy;
  Vector logit_gradient;
};
SoftPolicyLoss soft_policy_loss(std::span<const Real> logits, std::span<const std::uint8_t> allowed,
                                std::span<const Real> values, Real temperature);

// What a state is worth under a policy that is paid for its entropy: sum_a p (value - temperature log p) (eq.
// 10).
Real soft_value(const ActionDistribution& policy, std::span<const Real> values, Real temperature);

class Sac {
 public:
  struct Figures {
    Real critic_loss, policy_loss, entropy, temperature;
    bool applied;  // false: a gradient was not finite, and that network kept its weights
  };

  Sac(int state_size, int actions, SacOptions options, Random& random);

  int act(std::span<const Real> state, std::span<const std::uint8_t> allowed, Random& random) const;
  int best(std::span<const Real> state, std::span<const std::uint8_t> allowed) const;
  Real temperature() const;

  // False: there is a NaN or an infinity in it, and it is not kept.
  [[nodiscard]] bool remember(Experience experience);

  // One update; nothing while there is too little to learn from.
  std::optional<Figures> learn(Random& random);

  Network& actor() { return actor_; }
  const Network& actor() const { return actor_; }
  Network& critic(std::size_t i) { return critics_[i].online; }
  const Network& critic(std::size_t i) const { return critics_[i].online; }
  const ReplayBuffer& memory() const { return memory_; }
  void set_learning_rate(Real rate);  // of all networks
  void begin_from_critics();          // after their weights were set from outside: the targets follow at once

  // Between episodes: all that the next update depends on.
  SavedState save() const;
  Status restore(SavedState state);

 private:
  struct Critic {
    Network online, target;
    Optimizer optimizer;
    std::vector<Real> gradient;
  };

  Critic new_critic(int state_size, int actions, Random& random) const;

  SacOptions options_;
  Network actor_;
  Optimizer actor_optimizer_;
  std::vector<Real> actor_gradient_;
  std::array<Critic, 2> critics_;
  Real log_temperature_;
  Optimizer temperature_optimizer_;
  ReplayBuffer memory_;
  NStepReturns returns_;
};

}  // namespace evenkeel::learning
