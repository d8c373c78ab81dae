#pragma once
#include "training/trainer.h"

namespace evenkeel::training {

// `learner: dscaler` of a recipe: DScaler pre-trained over many seeded worlds of one service each.
//
//   worlds: 60             a step is one world
//   length: 12h            of each, at most: a piece from anywhere
//   first_world: 100001    seeds of the training worlds, apart from those that evaluations use
//   hidden: [32, 16]  learning_rate: 0.001  discount: 0.9  batch: 32  pool: 160  target_every: 100
//   learning_rate_end: …   reached evenly over the worlds
//   epsilon: {start: 1, end: 0.01, decisions: 20000}
//   decisions_every: 60s
//   penalty: -2            eq. 4
//   ranges: {replicas: 10, requests_per_s: 500}     N and W that count as 1
//   validation: {worlds: 2, every: 10}   the model with the highest mean reward, frozen, is the result
Result<std::unique_ptr<Trainer>> make_dscaler_trainer(YamlReader& recipe, TrainerInput input);

}  // namespace evenkeel::training
