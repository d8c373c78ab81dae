#pragma once
#include <iosfwd>

#include "apps/bench.h"

namespace evenkeel::apps {

// Hundreds of agents and the desk of their leader in one process, messages and all: what a pod costs them
// together, asked all or a sample, and how long one agent thinks.
Result<BenchJson> bench_agents_desk(const BenchSettings& settings, std::ostream& out);

}  // namespace evenkeel::apps
