#include "training/scaling_experiment.h"

#include <algorithm>
#include <array>

#include "base/numbers.h"

namespace evenkeel::training {
namespace {

constexpr std::array<std::string_view, 7> kSwitches = {"target",   "up",  "down", "tolerance",
                                                       "interval", "min", "max"};

Error wrong(const std::string& name, const std::string& value, std::string_view expected) {
  return invalid("switch +" + name + ": expected " + std::string(expected) + ", found '" + value + "'");
}

// HPA's defaults, where a switch changes one of them and the scenario has none.
ScalingBehaviour& behaviour_of(ScalerSpec& spec) {
  if (!spec.behaviour) {
    using Limit = ScalingRules::Limit;
    constexpr Duration kPeriod{std::chrono::seconds{15}};
    ScalingBehaviour usual;
    usual.up.limits = {Limit{Limit::Kind::pods, 4, kPeriod}, Limit{Limit::Kind::percent, 100, kPeriod}};
    usual.down.limits = {Limit{Limit::Kind::percent, 100, kPeriod}};
    spec.behaviour = std::move(usual);
  }
  return *spec.behaviour;
}

Status lay_over(ScalerSpec& spec, const std::string& name, const std::string& value) {
  if (name == "up" || name == "down" || name == "interval") {
    const Result<Duration> duration = parse_duration(value);
    if (!duration || *duration < Duration{} || (name == "interval" && *duration < std::chrono::seconds{1}))
      return wrong(name, value, "a duration such as 60s");
    if (name == "interval")
      spec.interval = *duration;
    else
      (name == "up" ? behaviour_of(spec).up : behaviour_of(spec).down).stabilisation = *duration;
    return {};
  }
  if (name == "target" || name == "tolerance") {
    const std::optional<double> number = parse_number(value);
    if (!number || *number < 0 || (name == "target" && *number <= 0))
      return wrong(name, value, name == "target" ? "a percentage such as 85" : "a share such as 0.05");
    if (name == "target")
      for (MetricTarget& metric : spec.metrics) metric.target = *number / 100;
    else
      behaviour_of(spec).up.tolerance = behaviour_of(spec).down.tolerance = *number;
    return {};
  }
  const std::optional<std::int64_t> count = parse_integer(value);
  if (!count || *count < 0 || *count > 100000) return wrong(name, value, "a number of replicas");
  (name == "min" ? spec.min_replicas : spec.max_replicas) = static_cast<std::int32_t>(*count);
  if (spec.min_replicas > spec.max_replicas) return wrong(name, value, "a minimum up to the maximum");
  return {};
}

}  // namespace

bool is_scaling_scenario(const YamlFile& file) {
  const YamlNode* kind = file.root().child("kind");
  return kind != nullptr && kind->text == "ScalingScenario";
}

Result<ScalingExperiment> read_scaling_experiment(YamlFile file, std::span<const std::string> overrides) {
  for (const std::string& assignment : overrides)
    if (const Status set = file.set(assignment); !set) return set.error();
  YamlReader root(file);
  Result<simulator::ServiceScenario> scenario = simulator::read_service_scenario(root);
  if (!scenario) return scenario.error();
  return ScalingExperiment{*std::move(scenario)};
}

Result<ScalingPolicySpec> parse_scaling_policy(const std::string& text) {
  ScalingPolicySpec spec;
  std::size_t at = text.find('+');
  spec.name = text.substr(0, at);
  while (at != std::string::npos) {
    const std::size_t next = text.find('+', at + 1);
    const std::string part = text.substr(at + 1, next == std::string::npos ? next : next - at - 1);
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    if (name.empty()) return invalid("policy '" + text + "': expected a switch after '+'");
    const std::string value = equals == std::string::npos ? "true" : part.substr(equals + 1);
    const bool own = std::find(kSwitches.begin(), kSwitches.end(), name) != kSwitches.end();
    (own ? spec.switches : spec.arguments)[name] = value;
    at = next;
  }
  return spec;
}

Status apply(const ScalingPolicySpec& policy, simulator::ServiceWorldPlan& plan) {
  for (simulator::ServicePlan& service : plan.services) {
    ScalerSpec& spec = service.scaler;
    spec.policy = policy.name;
    spec.arguments = policy.arguments;
    for (const auto& [name, value] : policy.switches)
      if (const Status laid = lay_over(spec, name, value); !laid) return laid.error();
    service.replicas = std::clamp(service.replicas, spec.min_replicas, spec.max_replicas);
  }
  return {};
}

}  // namespace evenkeel::training
