#include "training/scaling_evaluation.h"

#include <cmath>
#include <mutex>

#include "autoscaling/autoscaler.h"
#include "autoscaling/policies/registry.h"
#include "control/scaling_loop.h"
#include "training/in_parallel.h"
#include "training/scaling_references.h"

namespace evenkeel::training {
namespace {

using simulator::ServiceWorldPlan;

// What foresight is free of: nothing has to settle that will not change.
void free_of_stabilisation(ServiceWorldPlan& plan) {
  for (simulator::ServicePlan& service : plan.services) {
    using Limit = ScalingRules::Limit;
    constexpr Duration kPeriod{std::chrono::seconds{15}};
    ScalingBehaviour behaviour = service.scaler.behaviour.value_or(ScalingBehaviour{});
    if (!service.scaler.behaviour) {
      behaviour.up.limits = {Limit{Limit::Kind::percent, 900, kPeriod}};
      behaviour.down.limits = {Limit{Limit::Kind::percent, 100, kPeriod}};
    }
    behaviour.up.stabilisation = behaviour.down.stabilisation = Duration{};
    service.scaler.behaviour = std::move(behaviour);
  }
}

const learning::Model* model_of(const ScalingModels& models, const std::string& policy) {
  const auto found = models.find(policy);
  return found == models.end() ? nullptr : found->second.get();
}

Result<std::unique_ptr<autoscaling::ScalingPolicy>> make_policy(const ScalerSpec& spec,
                                                                const ServiceWorldPlan& plan,
                                                                const ScalingModels& models) {
  if (spec.policy == kClairvoyantScaling) return make_clairvoyant_scaling(plan, spec.arguments);
  return autoscaling::make_scaling_policy(spec.policy, spec.arguments, model_of(models, spec.policy));
}

// A name or an argument nobody knows is said before anything runs.
Status check(const std::string& policy, const ServiceWorldPlan& plan, const ScalingModels& models) {
  const Result<ScalingPolicySpec> spec = parse_scaling_policy(policy);
  if (!spec) return spec.error();
  ServiceWorldPlan laid = plan;
  if (const Status applied = apply(*spec, laid); !applied) return applied.error();
  if (spec->name == kClairvoyantScaling) {
    // Its plan takes a while: one of a minute says the same.
    laid.length = std::min<Duration>(laid.length, std::chrono::minutes{1});
  }
  const auto made = make_policy(laid.services.front().scaler, laid, models);
  return made ? Status() : Status(made.error());
}

}  // namespace

bool is_scaling_reference(std::string_view policy) {
  return policy.substr(0, policy.find('+')) == kClairvoyantScaling;
}

std::vector<Metric> metrics_of(const simulator::ServiceMeasures::Summary& s, const ServiceWorldPlan& plan) {
  std::vector<Metric> metrics = {{"replicas_mean", s.replicas},
                                 {"sla_violation", s.violation},
                                 {"cpu_utilization", s.cpu_utilization},
                                 {"requests_late", s.late},
                                 {"requests_unserved", s.unserved},
                                 {"response_ms_p95", std::isnan(s.response_s) ? 0 : 1000 * s.response_s},
                                 {"scalings", static_cast<double>(s.scalings)},
                                 {"scalings_up", static_cast<double>(s.ups)},
                                 {"scalings_down", static_cast<double>(s.downs)},
                                 {"replicas_max", s.replicas_most},
                                 {"pending", s.pending},
                                 {"requests", s.requests}};
  if (plan.services.size() > 1)
    for (std::size_t i = 0; i < s.by_service.size(); ++i)
      metrics.push_back({"replicas_" + plan.services[i].name, s.by_service[i]});
  return metrics;
}

Result<RunResult> run_scaling(const ServiceWorldPlan& plan, const std::string& policy, std::uint64_t seed,
                              const ScalingRunOptions& options) {
  const Result<ScalingPolicySpec> spec = parse_scaling_policy(policy);
  if (!spec) return spec.error();
  ServiceWorldPlan own = plan;
  if (const Status applied = apply(*spec, own); !applied) return applied.error();
  if (is_scaling_reference(policy)) free_of_stabilisation(own);
  const Random random(seed);
  simulator::ServiceWorld world(own, random, options.keep_series);
  autoscaling::Autoscaler autoscaler;
  control::ScalingLoop loop(
      world, autoscaler, [&](const ScalerSpec& scaler) { return make_policy(scaler, own, options.models); },
      random);
  while (loop.turn()) {
  }
  if (options.ended)
    for (std::uint32_t i = 0; i < own.services.size(); ++i)
      if (autoscaling::ScalingPolicy* const kept = loop.policy_of({i, 1}))
        options.ended(*kept, own.services[i].scaler);
  RunResult result;
  result.metrics = metrics_of(world.measures().summarise(), own);
  if (options.keep_series) result.requests = world.measures().series();
  return result;
}

Result<Evaluation> evaluate_scaling(const ScalingExperiment& experiment,
                                    const ScalingEvaluationOptions& options) {
  const simulator::ServiceScenario& scenario = experiment.scenario;
  Evaluation evaluation;
  evaluation.scenario = scenario.name;
  evaluation.source = scenario.source;
  evaluation.seeds = options.seeds;
  for (const std::string& policy : options.policies) {
    if (!options.seeds.empty()) {
      const ServiceWorldPlan plan = simulator::expand(scenario, options.seeds.front());
      if (const Status known = check(policy, plan, options.models); !known) return known.error();
    }
    evaluation.policies.push_back({policy, is_scaling_reference(policy), {}});
    evaluation.policies.back().runs.resize(options.seeds.size());
  }
  const std::size_t all = options.seeds.size() * options.policies.size();
  std::size_t done = 0;
  std::mutex mutex;
  std::optional<Error> failed;
  in_parallel(all, options.threads, [&](std::size_t job) {
    const std::size_t seed = job / options.policies.size(), policy = job % options.policies.size();
    const ServiceWorldPlan plan = simulator::expand(scenario, options.seeds[seed]);
    Result<RunResult> run = run_scaling(plan, options.policies[policy], options.seeds[seed],
                                        {options.models, options.keep_series && seed == 0, {}});
    const std::lock_guard lock(mutex);
    if (run)
      evaluation.policies[policy].runs[seed] = *std::move(run);
    else if (!failed)
      failed = run.error();
    ++done;
    if (options.progress) options.progress(done, all);
  });
  if (failed) return *failed;
  return evaluation;
}

}  // namespace evenkeel::training
