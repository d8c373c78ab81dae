#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "learning/algorithms/dqn.h"
#include "learning/algorithms/ppo.h"
#include "learning/algorithms/sac.h"
#include "learning/model_file.h"

namespace evenkeel::scheduling {

enum class DrsAlgorithm { dqn, ppo, sac };

struct LearnerSettings {
  DrsAlgorithm algorithm = DrsAlgorithm::dqn;
  learning::DqnOptions dqn{};  // DRS's own values are its defaults
  learning::PpoOptions ppo{};
  learning::SacOptions sac{};
  // Rewards that must have been stored before learning begins: a full batch, or all of the pool.
  std::size_t learn_after = 32;
  std::size_t ppo_every = 32;  // steps between updates
  learning::Real reward_scale = 1;
};

// What a choice must be remembered with until its reward is known.
struct DrsChoice {
  std::vector<learning::Real> state;
  learning::Mask allowed;
  int action = 0;
  learning::Real log_probability = 0, value = 0;  // PPO's
};

// Whichever algorithm stands in DQN's place, asked the same questions. The network has a fixed number of
// nodes, in a fixed order.
class DrsLearner {
 public:
  virtual ~DrsLearner() = default;
  virtual void act(DrsChoice& choice, Random& random) = 0;  // fills in the action
  virtual int best(const DrsChoice& choice) const = 0;
  // Stores what came of a choice and learns a step if it is time to. The loss, if there was a step.
  virtual std::optional<learning::Real> reward(DrsChoice choice, learning::Real reward,
                                               std::vector<learning::Real> next_state,
                                               learning::Mask next_allowed, Random& random) = 0;
  virtual void end_world(Random& random) = 0;  // what comes next has nothing to do with what came before
  // What it thinks of each node, more being better: Q values, or probabilities.
  virtual std::vector<learning::Real> opinions(std::span<const learning::Real> state,
                                               std::span<const std::uint8_t> allowed) const = 0;
  virtual std::string_view opinion_name() const = 0;
  virtual std::vector<learning::ModelNetwork> networks() const = 0;
  virtual Status begin_from(const learning::Model& model) = 0;
  virtual learning::SavedState save() const = 0;
  virtual Status restore(learning::SavedState state) = 0;
  virtual std::optional<learning::Real> epsilon() const { return std::nullopt; }  // where it explores by one
  virtual std::uint64_t stored() const = 0;
  // What it has in its pool, the oldest first, rewards as they were given; PPO has none.
  virtual std::vector<learning::Transition> kept() const { return {}; }
  virtual void set_learning_rate(learning::Real rate) = 0;
};

std::unique_ptr<DrsLearner> make_drs_learner(const LearnerSettings& settings, std::size_t nodes,
                                             Random& random);

// How many nodes the model's networks are for; or why they fit no number of nodes.
Result<std::size_t> nodes_of_drs_model(const LearnerSettings& settings, const learning::Model& model);

}  // namespace evenkeel::scheduling
