#pragma once
#include <optional>
#include <vector>

#include "learning/shared_scorer.h"
#include "scheduling/policies/evenkeel.h"
#include "training/random_worlds.h"

namespace evenkeel::training {

// One decision played out with every choice: what the scorer sees of each candidate, and what came of it.
struct RatedNodes {
  scheduling::Evenkeel::Encoded question;
  std::vector<float> costs;  // one per candidate, in the scorer's units
};

struct CounterfactualOptions {
  std::size_t candidates = 6;  // at most, of a question: the best by either score, and some at random
  std::size_t lessons = 30;    // at most, of a world
  double unserved_weight = 1;  // of the CPU wanted and not given, beside imbalance
};

// Plays a world by `scorer` (none: by horizon). At some decisions the whole world is copied for each
// candidate, the pod put there, and the copy played on by the same policy for world.look: the same arrivals,
// the same luck, only that choice differs. The future is used to judge, never to choose.
std::vector<RatedNodes> lessons_of(const RandomWorld& world, const learning::SharedScorer* scorer,
                                   const CounterfactualOptions& options, std::uint64_t seed);

}  // namespace evenkeel::training
