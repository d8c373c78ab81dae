#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace evenkeel::apps {

using BenchJson = nlohmann::ordered_json;

struct BenchSettings {
  std::string data;                   // folder of real traces; empty: what needs them says so and is skipped
  std::string report;                 // where to write the plots of growth or scaling; empty: nowhere
  bool quick = false;                 // a sample, for tests
  int rounds = 0;                     // of the race; 0: as many as it likes
  std::vector<std::string> tuned_on;  // windows of scaling's traces that policies were tuned on
  std::vector<std::string> policies;  // of scaling beside HPA's (empty: all), and of together (empty: hpa)
};

// An error that names the windows there are, where one of these is none of scaling's traces'.
Status check_scaling_windows(const std::vector<std::string>& names);

// One of the benchmarks behind `make bench`: prints tables to `out` and returns `results` of
// its JSON.
struct Bench {
  std::string_view name, about;
  Result<BenchJson> (*run)(const BenchSettings& settings, std::ostream& out);
};

Result<BenchJson> bench_agents(const BenchSettings& settings, std::ostream& out);
Result<BenchJson> bench_autoscaler(const BenchSettings& settings, std::ostream& out);
Result<BenchJson> bench_simulator(const BenchSettings& settings, std::ostream& out);
Result<BenchJson> bench_decisions(const BenchSettings& settings, std::ostream& out);
Result<BenchJson> bench_live(const BenchSettings& settings, std::ostream& out);
Result<BenchJson> bench_shapes(const BenchSettings& settings, std::ostream& out);
Result<BenchJson> bench_growth(const BenchSettings& settings, std::ostream& out);
Result<BenchJson> bench_training(const BenchSettings& settings, std::ostream& out);
Result<BenchJson> bench_network(const BenchSettings& settings, std::ostream& out);
Result<BenchJson> bench_optimum(const BenchSettings& settings, std::ostream& out);
Result<BenchJson> bench_race(const BenchSettings& settings, std::ostream& out);
Result<BenchJson> bench_scaling(const BenchSettings& settings, std::ostream& out);
Result<BenchJson> bench_together(const BenchSettings& settings, std::ostream& out);
Result<BenchJson> bench_rules(const BenchSettings& settings, std::ostream& out);

}  // namespace evenkeel::apps
