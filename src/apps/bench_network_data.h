#pragma once
#include <iosfwd>

#include "apps/bench.h"

namespace evenkeel::apps {

// Real applications (DATA/apps/edges.csv, services.csv) on real latencies (every table in DATA/latency),
// under the policies. Where there are none: says so, and an empty object.
Result<BenchJson> bench_network_data(const BenchSettings& settings, std::ostream& out);

}  // namespace evenkeel::apps
