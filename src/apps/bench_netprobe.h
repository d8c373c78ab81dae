#pragma once
#include "apps/bench.h"

namespace evenkeel::apps {

// What measuring the paths between sixteen nodes costs, in each mode.
Result<BenchJson> bench_netprobe(const BenchSettings& settings, std::ostream& out);

}  // namespace evenkeel::apps
