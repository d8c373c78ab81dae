#pragma once
#include <map>
#include <span>
#include <string>

#include "base/result.h"
#include "base/yaml_file.h"
#include "simulator/service_scenario.h"

namespace evenkeel::training {

// A scenario of services that are scaled. Their scalers are part of it; policies lay their switches over
// them.
struct ScalingExperiment {
  simulator::ServiceScenario scenario;
};

// Whether a scenario file is about scaling: its kind is ScalingScenario.
bool is_scaling_scenario(const YamlFile& file);
// Reads all of it, `--set` overrides worked in. Unknown fields are errors.
Result<ScalingExperiment> read_scaling_experiment(YamlFile file, std::span<const std::string> overrides);

// A policy with switches behind it: `hpa+target=85+down=60s`, `evenkeel+horizon=2m`.
//   +target=P        CPU utilisation, in percent, that `hpa` keeps (also as the fallback of others)
//   +up=D  +down=D   stabilisation
//   +tolerance=X     of both directions
//   +interval=D      between decisions
//   +min=N  +max=N   bounds
// Any other switch is an argument of the policy.
struct ScalingPolicySpec {
  std::string name;  // without switches
  std::map<std::string, std::string> arguments;
  std::map<std::string, std::string> switches;  // of those above
};
Result<ScalingPolicySpec> parse_scaling_policy(const std::string& text);
// The world's scalers as this policy has them.
Status apply(const ScalingPolicySpec& policy, simulator::ServiceWorldPlan& plan);

}  // namespace evenkeel::training
