#pragma once
#include "training/trainer.h"

namespace evenkeel::training {

// Trains the scorer of `evenkeel`: rounds of worlds nobody has seen (random_worlds.h), some of whose
// decisions are played out with every choice (counterfactual.h). The scorer then gives each candidate a
// chance by its score, and is changed so that what is expected to come of the choice costs less: the gradient
// of sum_a softmax(horizon + scorer)_a cost_a, exact over the candidates, so that no return has to be
// estimated. Each world is seen once: nothing is there to learn by heart.
//
// The worlds are played by horizon at first; every `improve_every` rounds by what has been learnt so far, so
// that a choice is judged by how the scorer itself goes on (policy iteration).
//
// In a recipe: rounds, worlds, lessons, candidates, passes, batch, learning_rate, learning_rate_end, hidden,
// sharpness, smoothing, improve_every, scenario_share, laboratory_share, most_nodes, unserved_weight,
// first_world.
Result<std::unique_ptr<Trainer>> make_evenkeel_trainer(YamlReader& recipe, TrainerInput input);

}  // namespace evenkeel::training
