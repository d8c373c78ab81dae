#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "autoscaling/policies/policy.h"
#include "base/result.h"
#include "simulator/service_plan.h"

namespace evenkeel::training {

// `clairvoyant[+level=V]`: knows every rate to come, start-up times and the queue, and is not held back by
// stabilisation. A dynamic programme over decision intervals finds the fewest replica-seconds whose share of
// violated time, by the queue in equilibrium, is at most V (0); pods are ordered a start-up ahead and paid
// for from then on. It is the optimum of that model, run in the same world as everybody else: a reference,
// marked as such, not a proof.
inline constexpr std::string_view kClairvoyantScaling = "clairvoyant";

// Replicas that must be ready in each of the plan's decision intervals.
std::vector<std::int32_t> plan_replicas(const simulator::ServiceWorldPlan& plan, double level);

Result<std::unique_ptr<autoscaling::ScalingPolicy>> make_clairvoyant_scaling(
    const simulator::ServiceWorldPlan& plan, const std::map<std::string, std::string>& arguments);

}  // namespace evenkeel::training
