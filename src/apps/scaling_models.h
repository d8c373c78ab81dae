#pragma once
#include <string>
#include <vector>

#include "training/scaling_evaluation.h"

namespace evenkeel::apps {

// The models scaling policies start from: models/scaling-<policy>.ekm, or models/<policy>.ekm where no
// scheduling policy has that name. Laid over them what users gave as `policy=MODEL`, `MODEL` (its encoding
// begins with the policy's name) or `policy=none`.
Result<training::ScalingModels> load_scaling_models(const std::vector<std::string>& given);

}  // namespace evenkeel::apps
