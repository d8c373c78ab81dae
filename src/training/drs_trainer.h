#pragma once
#include "scheduling/policies/drs.h"
#include "training/trainer.h"

namespace evenkeel::training {

// `learner: drs` of a recipe: any policy of the DRS family, trained over many seeded worlds; `policy:
// drs-means` by evolution (means_trainer.h).
//
//   policy: drs            which of scheduling/policies/drs.h
//   worlds: 600            a step is one world, DRS's 300 pods and so its 300 epochs
//   first_world: 100001    seeds of the training worlds, apart from those that evaluations use
//   hidden: [50]  learning_rate: 0.01  discount: 0.9  batch: 32  pool: 300  target_every: 50
//   epsilon: {start: 0.1, end: 0.1, worlds: 0}       where a field is absent, the policy's own value holds
//   learning_rate_end: …   reached evenly over the worlds
//   validation: {worlds: 5, every: 50, metric: imbalance}   the best model so far, frozen, is the result
Result<std::unique_ptr<Trainer>> make_drs_trainer(YamlReader& recipe, TrainerInput input);

// `hidden: [50]` of a recipe.
std::vector<int> read_hidden_layers(YamlReader& recipe, const std::vector<int>& otherwise);

// One world under a learning policy; what the world then says of it. For trainers and figures.
RunResult run_world(const Experiment& experiment, std::uint64_t world_seed, Random random,
                    scheduling::PlacementPolicy& policy);

// DRS from nothing through the paper's 300 epochs, a pod each; the seconds are the caller's to take.
// The number of rewards learnt from.
std::size_t run_drs_epochs(const Experiment& experiment, std::uint64_t seed);

}  // namespace evenkeel::training
