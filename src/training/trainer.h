#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/yaml_reader.h"
#include "learning/model_file.h"
#include "training/evaluation.h"
#include "training/experiment.h"
#include "training/scaling_experiment.h"

namespace evenkeel::training {

// What a step of training came to: one point of each learning curve.
using CurvePoint = std::vector<Metric>;

// One training under way. It goes in steps small enough to show progress between them, and between any two it
// can be put away and taken up again as if it had never stopped: the same seed gives the same model, byte for
// byte, whether or not it was interrupted.
class Trainer {
 public:
  virtual ~Trainer() = default;
  virtual std::size_t steps() const = 0;  // in all
  virtual std::size_t done() const = 0;
  virtual std::string_view step_name() const = 0;  // "epoch", "episode", "generation"
  virtual CurvePoint advance() = 0;
  virtual learning::Model model() const = 0;  // as good as it is now
  virtual std::string state() const = 0;      // for a checkpoint
  virtual Status restore(std::string_view state) = 0;
};

struct TrainerInput {
  std::vector<Experiment> experiments;  // --scenario; empty: the recipe's own worlds
  std::uint64_t seed = 1;
  unsigned threads = 1;                      // changes no figure
  std::vector<ScalingExperiment> scaling{};  // the same, of learners that scale
};

// Reads what is its own of a recipe; errors stay with the reader until its finish().
using MakeTrainer = Result<std::unique_ptr<Trainer>> (*)(YamlReader& recipe, TrainerInput input);

}  // namespace evenkeel::training
