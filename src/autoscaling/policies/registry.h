#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "autoscaling/policies/policy.h"
#include "base/result.h"

namespace evenkeel::learning {
struct Model;
}

namespace evenkeel::autoscaling {

// A policy for one workload. Arguments are those of the workload's spec; one that the policy does not know,
// or cannot read, is an error that names it. No model: rules need none, and what learns starts from nothing.
Result<std::unique_ptr<ScalingPolicy>> make_scaling_policy(
    std::string_view name, const std::map<std::string, std::string>& arguments, const learning::Model* model);

// As users may type them.
std::vector<std::string_view> scaling_policy_names();

// Whether its answers come of what it learnt rather than of a rule.
bool is_learned_scaling(std::string_view name);

}  // namespace evenkeel::autoscaling
