#pragma once
#include <string>
#include <vector>

#include "training/experiment.h"
#include "training/scaling_experiment.h"

namespace evenkeel::apps {

// By path where it looks like one, else by name among those built into the binary.
Result<training::Experiment> load_scenario(const std::string& name_or_path,
                                           const std::vector<std::string>& overrides);

// The same for scenarios of services that are scaled.
Result<training::ScalingExperiment> load_scaling_scenario(const std::string& name_or_path,
                                                          const std::vector<std::string>& overrides);

// The file itself, for those who take either kind.
Result<YamlFile> open_scenario(const std::string& name_or_path);

std::vector<std::string> built_in_scenarios();

}  // namespace evenkeel::apps
