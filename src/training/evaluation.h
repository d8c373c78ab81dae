#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "scheduling/policies/registry.h"
#include "simulator/measures.h"
#include "simulator/service_measures.h"
#include "simulator/simulated_world.h"
#include "training/experiment.h"
#include "training/network_reference.h"

namespace evenkeel::training {

struct Metric {
  std::string name;
  double value = 0;
};

// One policy in one world.
struct RunResult {
  std::vector<Metric> metrics;  // names as `evaluate --json` prints them
  std::vector<simulator::SeriesPoint> series;
  std::vector<simulator::PodOutcome> outcomes;
  std::vector<simulator::ServicePoint> requests;  // of services that are scaled
  std::vector<double> decision_us;                // only when timed

  double operator[](std::string_view name) const;
};

struct PolicyResult {
  std::string policy;
  bool reference = false;       // sees the future
  std::vector<RunResult> runs;  // one per seed
};

struct Evaluation {
  std::string scenario, source;
  std::vector<std::uint64_t> seeds;
  std::vector<std::string> node_names;  // of the first seed's world
  std::vector<std::string> workloads;   // likewise, by WorkloadId::slot
  std::vector<PolicyResult> policies;
};

struct EvaluationOptions {
  std::vector<std::string> policies;
  std::vector<std::uint64_t> seeds;
  scheduling::PolicyModels models;
  bool keep_series = false;    // of the first seed, for pictures
  bool keep_outcomes = false;  // of every seed's pods
  bool time_decisions = false;
  unsigned threads = 1;
  ProvePlan prove;  // of worlds with application groups, where `optimum` is among the policies; may be none
  std::function<void(std::size_t done, std::size_t all)> progress;  // called from any thread, one at a time
};

// Every policy on the very same worlds. The result does not depend on the threads.
Result<Evaluation> evaluate(const Experiment& experiment, const EvaluationOptions& options);

struct Spread {
  double mean = 0, sd = 0;  // sd: of the sample
};
// What a world that was run says, by the names of `evaluate --json`.
std::vector<Metric> metrics_of(const simulator::SimulatedWorld& world, std::size_t pods);

Spread spread_of(const PolicyResult& result, std::string_view metric);

}  // namespace evenkeel::training
