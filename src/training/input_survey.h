#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "learning/input_ranges.h"
#include "scheduling/policies/guarded.h"
#include "scheduling/policies/registry.h"
#include "training/experiment.h"
#include "training/random_worlds.h"

namespace evenkeel::training {

// Worlds to watch a model in.
struct SurveyWorlds {
  std::vector<Experiment> experiments;
  std::size_t worlds = 8;         // of each
  std::size_t random_worlds = 0;  // beside them
  RandomWorldOptions random{};
  std::uint64_t first_seed = 1;
  unsigned threads = 1;  // changes no figure
};

// A model and the policy that uses it.
struct SurveyedModel {
  std::string policy;
  std::shared_ptr<const learning::Model> model;
};

// In which ranges the inputs of the model's network lie where its policy decides in these worlds, nothing
// being learnt meanwhile. An error: the policy refuses the model, does not show its inputs, or was never
// asked.
Result<std::vector<learning::InputRange>> survey_inputs(const SurveyedModel& surveyed,
                                                        const SurveyWorlds& worlds);

// How often a guard took the deciding from it there, and why.
struct GuardTrial {
  std::size_t worlds = 0;
  double hours = 0;  // of the worlds' own time
  std::uint64_t decisions = 0, by_learned = 0;
  struct Reason {
    std::uint64_t falls = 0;      // from deciding to not deciding
    std::uint64_t decisions = 0;  // by the rule in its stead
    std::size_t worlds = 0;       // in which it fell at least once
  };
  std::array<Reason, scheduling::kFallbacks> by_reason{};
};
Result<GuardTrial> try_guard(const SurveyedModel& surveyed, const SurveyWorlds& worlds,
                             const scheduling::StageSettings& stage,
                             const scheduling::GuardOptions& options = {});

}  // namespace evenkeel::training
