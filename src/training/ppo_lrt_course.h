#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "base/yaml_reader.h"
#include "learning/algorithms/ppo.h"
#include "scheduling/policies/ppo_lrt.h"
#include "simulator/world_plan.h"
#include "training/experiment.h"
#include "training/trainer.h"

namespace evenkeel::training {

// How PPO-LRT is trained (seed paper 001, sections 3.3 and 4.2). The paper says 300 episodes of 10 timesteps
// with 10 pods in each, which is 30,000 pods, and also 3,000 pods in all; and that the ten pods of a timestep
// go to "a specific node". Taken here: an action is a timestep, its ten pods follow it to the same node, and
// 3,000 is the number of actions.
struct PpoLrtRecipe {
  std::size_t episodes = 300;
  std::size_t actions_per_episode = 10;
  std::size_t update_every = 30;  // actions
  Duration action_every{};  // how far apart the pods of two actions come; 0: all at once, as in the tests
  scheduling::PpoLrtOptions policy;  // pods per action, reward, load control
  learning::PpoOptions ppo{
      .hidden = {32, 32}, .trace_decay = 0.5, .epochs = 80, .minibatch = 4096, .entropy_bonus = 0.01};
};

// Errors stay with the reader.
PpoLrtRecipe read_ppo_lrt_recipe(YamlReader& recipe);

// The episodes of a training: worlds made of scenarios and a seed, the same for every policy.
class PpoLrtCourse {
 public:
  PpoLrtCourse(PpoLrtRecipe recipe, std::vector<Experiment> experiments, std::uint64_t seed);

  const PpoLrtRecipe& recipe() const { return recipe_; }
  const std::vector<Experiment>& experiments() const { return experiments_; }
  std::size_t nodes() const;

  struct Episode {
    scheduling::PpoLrt::Episode played;
    std::size_t clearings = 0;
    double response_s = 0;  // mean over all pods
  };
  Episode play(std::size_t episode, const learning::Ppo& learner) const;
  // What another policy would have been paid for the same episode.
  std::vector<scheduling::PpoLrtVerdict> judge_other(std::size_t episode, std::string_view policy) const;

  static CurvePoint point_of(const std::vector<scheduling::PpoLrtVerdict>& verdicts);
  Random random_of(std::size_t episode) const;

 private:
  simulator::WorldPlan plan_of(std::size_t episode) const;
  const Experiment& experiment_of(std::size_t episode) const;

  PpoLrtRecipe recipe_;
  std::vector<Experiment> experiments_;
  Random random_;
};

}  // namespace evenkeel::training
