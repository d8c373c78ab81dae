#pragma once
#include "training/trainer.h"

namespace evenkeel::training {

// `policy: drs-means` of a DRS recipe: the scorer of scheduling/policies/drs_means.h by evolution, each trial
// judged by a measure of whole worlds, which no reward five seconds later adds up to.
//
//   generations: 80   pairs: 12   deviation: 0.1   learning_rate: 0.05   hidden: [8]
//   worlds: 4              of each scenario, per trial; all trials of a generation see the same
//   first_world: 100001    never the worlds that evaluations use
//   objective: {imbalance_of_means: 1, imbalance: 0}   what a trial costs
//   validation: {worlds: 5, every: 10}                 the best so far is the result
Result<std::unique_ptr<Trainer>> make_means_trainer(YamlReader& recipe, TrainerInput input);

}  // namespace evenkeel::training
