#include "apps/network_runs.h"

#include <algorithm>
#include <cmath>

#include "optimum/placement_optimum.h"
#include "reporting/number_format.h"
#include "scheduling/policies/registry.h"
#include "solver/highs.h"
#include "training/references.h"

namespace evenkeel::apps {

std::vector<std::string> known_policies(std::initializer_list<const char*> names) {
  std::vector<std::string_view> known = scheduling::policy_names();
  const std::vector<std::string_view> references = training::reference_names();
  known.insert(known.end(), references.begin(), references.end());
  std::vector<std::string> policies;
  for (const char* name : names)
    if (std::find(known.begin(), known.end(), name) != known.end()) policies.emplace_back(name);
  return policies;
}

training::ProvePlan network_prover() {
  const Result<solver::Highs> highs = solver::Highs::open();
  if (!highs) return nullptr;
  return [solve = highs->solver()](const scheduling::GroupProblem& problem,
                                   const std::vector<std::uint32_t>& start,
                                   Duration limit) -> std::optional<training::ProvenPlan> {
    optimum::OptimumOptions options;
    options.seconds = to_seconds(limit);
    options.start = start;
    // All pods as one application: the question is not which of them, but where.
    const Result<optimum::PlacementOptimum> found = optimum::find_optimum(problem, {}, solve, options);
    if (!found || found->accepted < found->applications) return std::nullopt;
    return training::ProvenPlan{found->plan.node_of, found->bound, found->proven, found->seconds};
  };
}

Result<training::Evaluation> run_network(const NetworkRun& run) {
  const Result<training::Experiment> experiment = load_scenario(run.scenario, run.sets);
  if (!experiment) return experiment.error();
  training::EvaluationOptions options;
  options.policies = run.policies;
  for (std::uint64_t i = 0; i < run.seeds; ++i) options.seeds.push_back(run.first_seed + i);
  options.time_decisions = run.timed;
  options.threads = run.timed ? 1 : run.threads;
  options.prove = network_prover();
  return training::evaluate(*experiment, options);
}

const training::PolicyResult* find_policy(const training::Evaluation& evaluation, std::string_view policy) {
  for (const training::PolicyResult& result : evaluation.policies)
    if (result.policy == policy) return &result;
  return nullptr;
}

Interval interval_of(const training::PolicyResult& result, std::string_view metric) {
  const training::Spread spread = training::spread_of(result, metric);
  const auto n = static_cast<double>(result.runs.size());
  if (n < 2) return {spread.mean, 0};
  // Student's t at 97.5 %, within a hundredth from four runs on.
  const double t = 1.96 + 2.4 / (n - 1) + 3 / ((n - 1) * (n - 1));
  return {spread.mean, t * spread.sd / std::sqrt(n)};
}

std::string text_of(const Interval& interval) {
  if (std::isnan(interval.mean)) return "–";
  return interval.half > 0 ? reporting::format_mean_sd(interval.mean, interval.half)
                           : reporting::format_number(interval.mean);
}

}  // namespace evenkeel::apps
