#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "autoscaling/policies/policy.h"
#include "simulator/service_world.h"
#include "training/evaluation.h"
#include "training/scaling_experiment.h"

namespace evenkeel::training {

using ScalingModels = std::map<std::string, std::shared_ptr<const learning::Model>, std::less<>>;

struct ScalingRunOptions {
  ScalingModels models;  // by policy
  bool keep_series = false;
  // Shown every workload's policy when the world has ended: what it learnt can be put away.
  std::function<void(autoscaling::ScalingPolicy&, const ScalerSpec&)> ended;
};

// One policy in the world of one seed.
Result<RunResult> run_scaling(const simulator::ServiceWorldPlan& plan, const std::string& policy,
                              std::uint64_t seed, const ScalingRunOptions& options = {});

struct ScalingEvaluationOptions {
  std::vector<std::string> policies;  // with switches, see scaling_experiment.h, and references
  std::vector<std::uint64_t> seeds;
  ScalingModels models;
  bool keep_series = false;  // of the first seed, for pictures
  unsigned threads = 1;
  std::function<void(std::size_t done, std::size_t all)> progress;  // called from any thread, one at a time
};

// Every policy on the very same worlds, by the names of `evaluate --json`:
//   replicas_mean, replicas_max, cpu_utilization (DScaler eq. 2), sla_violation (eq. 1, of time),
//   requests_late, requests_unserved (shares), response_ms_p95, scalings, scalings_up, scalings_down, pending
Result<Evaluation> evaluate_scaling(const ScalingExperiment& experiment,
                                    const ScalingEvaluationOptions& options);

bool is_scaling_reference(std::string_view policy);
std::vector<Metric> metrics_of(const simulator::ServiceMeasures::Summary& summary,
                               const simulator::ServiceWorldPlan& plan);

}  // namespace evenkeel::training
