#pragma once
#include <string>
#include <vector>

#include "training/experiment.h"

namespace evenkeel::apps {

// By path where it looks like one, else by name among those built into the binary.
Result<training::Experiment> load_scenario(const std::string& name_or_path,
                                           const std::vector<std::string>& overrides);

std::vector<std::string> built_in_scenarios();

}  // namespace evenkeel::apps
