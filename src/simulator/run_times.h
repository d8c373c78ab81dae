#pragma once
#include <string>

#include "base/result.h"

namespace evenkeel::simulator {

struct Scenario;

// Gives the scenario's apps the run times of a table (columns kernel, t_large_s; the median of each
// kernel's rows), and says so in its source. An app of several phases keeps their proportions.
Status read_run_times(const std::string& path, Scenario& scenario);

}  // namespace evenkeel::simulator
