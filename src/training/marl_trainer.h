#pragma once
#include "training/trainer.h"

namespace evenkeel::training {

// Learner `marl` of a recipe: agents on nodes (scheduling/policies/marl.h), trained over many seeded worlds
// in one environment (node_agents_env.h).
//
//   policy: marl-shared     or marl
//   way: pooled             independent  each agent by itself, as the thesis has it; the model is one network
//                                        for each node of the first scenario
//                           pooled       one network learns from what every agent was given for its own pods
//                           decomposed   one network whose agents' values add up to what all are given
//                                        together (value decomposition)
//   worlds: 600             a step is one world
//   first_world: 300001     seeds of the training worlds, apart from those that evaluations use
//   scenario_share: 0.5     of the worlds, where the recipe names scenarios; the others are made at random
//   laboratory_share: 0.6  most_nodes: 40      of those (random_worlds.h)
//   coming_and_going: 0.3   of the worlds have nodes that leave, come back and join later
//   talkers: 0.2            of the pods are imagined to talk (node_agents_env.h)
//   moments: [6, 21, 42]    seconds after the decision at which rewards are looked at
//   hidden: [16]  learning_rate: 0.003  learning_rate_end: …  discount: …  batch: …  pool: …  target_every: …
//   epsilon: {start: 0.3, end: 0.05, worlds: 300}    what the policy goes on with is `online.epsilon`
//   online: {learning_rate: 0.0001, epsilon: 0.01}
//   smoothing: 0.05         of the weights from world to world: what is used is their running average
//   validation: {worlds: 3, every: 25, metric: imbalance}   the best model so far, frozen, is the result
Result<std::unique_ptr<Trainer>> make_marl_trainer(YamlReader& recipe, TrainerInput input);

}  // namespace evenkeel::training
