// How good: the rules on the papers' worlds, beside the figures to reach.
#include "apps/bench.h"

namespace evenkeel::apps {

Result<BenchJson> bench_rules(const BenchSettings&, std::ostream&) { return BenchJson::object(); }

}  // namespace evenkeel::apps
