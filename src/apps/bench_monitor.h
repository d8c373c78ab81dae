#pragma once
#include "apps/bench.h"

namespace evenkeel::apps {

// What watching a node of fifty pods costs, beside node-exporter where there is one.
Result<BenchJson> bench_monitor(const BenchSettings& settings, std::ostream& out);

}  // namespace evenkeel::apps
