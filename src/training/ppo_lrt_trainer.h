#pragma once
#include "training/trainer.h"

namespace evenkeel::training {

// Trains `ppo-lrt` or `ppo-lrt-ordered` in simulated worlds; a step is an episode (ppo_lrt_course.h). All its
// scenarios must have the same number of nodes: the network has a place for each.
Result<std::unique_ptr<Trainer>> make_ppo_lrt_trainer(YamlReader& recipe, TrainerInput input);

}  // namespace evenkeel::training
