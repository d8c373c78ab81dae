#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/yaml_file.h"
#include "training/trainer.h"

namespace evenkeel::training {

// A way of learning that recipes can name.
struct Learner {
  std::string_view name;
  MakeTrainer make;
  bool scales = false;  // its scenarios are of services that are scaled
};

// The learners of this program. To add one: write its trainer, add its line.
std::span<const Learner> learners();

// What training starts from, besides the recipe itself.
struct TrainingOrder {
  std::vector<std::string> scenarios;  // empty: those the recipe names, or worlds its learner makes itself
  std::uint64_t seed = 1;
  unsigned threads = 1;  // changes no figure
  std::function<Result<Experiment>(const std::string& name_or_path)> load_scenario;
  std::function<Result<ScalingExperiment>(const std::string& name_or_path)> load_scaling{};
};

// A recipe read, and its training ready to go.
struct Training {
  std::string recipe;   // its name
  std::string learner;  // as in `learners()`
  std::vector<std::string> scenarios;
  std::unique_ptr<Trainer> trainer;
};

// A recipe is a YAML file:
//
//   apiVersion: evenkeel.io/v1alpha1
//   kind: Recipe
//   name: drs
//   description: what it is for
//   learner: drs                       one of learners()
//   scenarios: [drs-even, drs-random]  worlds to learn in, where the learner makes none of its own
//   …                                  the rest is the learner's, read by its MakeTrainer
//
// Unknown fields are errors; messages name file, line and field.
Result<Training> start_training(const YamlFile& recipe, const TrainingOrder& order,
                                std::span<const Learner> known = learners());

}  // namespace evenkeel::training
