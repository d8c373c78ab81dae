#include "training/recipes.h"

#include <algorithm>
#include <array>

#include "base/spelling.h"
#include "base/yaml_reader.h"
#include "training/drs_trainer.h"
#include "training/evenkeel_trainer.h"
#include "training/marl_trainer.h"
#include "training/ppo_lrt_trainer.h"
#include "training/scaling_trainer.h"

namespace evenkeel::training {
namespace {

// To add a learner: write its trainer, add its line.
constexpr std::array kLearners = {
    Learner{"drs", make_drs_trainer},           Learner{"dscaler", make_dscaler_trainer, true},
    Learner{"evenkeel", make_evenkeel_trainer}, Learner{"marl", make_marl_trainer},
    Learner{"ppo-lrt", make_ppo_lrt_trainer},
};

const Learner* find_learner(YamlReader& root, const std::string& name, std::span<const Learner> known) {
  std::vector<std::string_view> names;
  for (const Learner& learner : known) {
    if (learner.name == name) return &learner;
    names.push_back(learner.name);
  }
  root.fail("learner", "found '" + name + "', expected one of " + joined(names) + did_you_mean(name, names));
  return nullptr;
}

template <class Scenario>
Status add(std::vector<Scenario>& all, const std::function<Result<Scenario>(const std::string&)>& load,
           const std::string& name) {
  if (!load) return invalid("scenario '" + name + "' cannot be loaded here");
  Result<Scenario> scenario = load(name);
  if (!scenario) return scenario.error();
  all.push_back(*std::move(scenario));
  return {};
}

}  // namespace

std::span<const Learner> learners() { return kLearners; }

Result<Training> start_training(const YamlFile& recipe, const TrainingOrder& order,
                                std::span<const Learner> known) {
  YamlReader root(recipe);
  Training training;
  root.word("apiVersion", {"evenkeel.io/v1alpha1"}).required();
  root.word("kind", {"Recipe"}).required();
  training.recipe = root.text("name").required();
  root.text("description").or_else("");
  training.learner = root.text("learner").required();
  const std::vector<std::string> own = root.texts("scenarios").or_else({});
  training.scenarios = order.scenarios.empty() ? own : order.scenarios;
  const Learner* learner = root.has("learner") ? find_learner(root, training.learner, known) : nullptr;
  if (!learner) return *root.finish();

  TrainerInput input{{}, order.seed, order.threads};
  for (const std::string& scenario : training.scenarios) {
    const Status added = learner->scales ? add(input.scaling, order.load_scaling, scenario)
                                         : add(input.experiments, order.load_scenario, scenario);
    if (added) continue;
    if (!order.scenarios.empty()) return added.error();
    root.fail("scenarios", added.error().message);
    return *root.finish();
  }
  Result<std::unique_ptr<Trainer>> trainer = learner->make(root, std::move(input));
  // A field's own error says more than what the trainer made of it.
  if (const auto bad = root.finish()) return *bad;
  if (!trainer) return trainer.error();
  training.trainer = *std::move(trainer);
  return training;
}

}  // namespace evenkeel::training
