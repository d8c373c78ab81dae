#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/yaml_file.h"
#include "scheduling/options.h"
#include "simulator/scenario.h"

namespace evenkeel::training {

// A scenario with the options its policies decide under.
struct Experiment {
  simulator::Scenario scenario;
  scheduling::SchedulingOptions options;
  Duration optimum_limit{std::chrono::seconds{60}};  // of the solver, for each world: optimum.time_limit
};

// Reads all of a scenario file, `--set` overrides worked in. Unknown fields are errors.
Result<Experiment> read_experiment(YamlFile file, std::span<const std::string> overrides);

}  // namespace evenkeel::training
