#pragma once
#include <string>

#include "autoscaling/scaling_request.h"

namespace evenkeel::autoscaling {

// Takes out of a report what cannot be true: what is no number, negative, or measured in the future.
void drop_nonsense(ServiceReport& report, Time now);

// Takes out of a report what is older than `stale_after`: absent is what every policy has a rule for.
void drop_stale(ServiceReport& report, Duration stale_after, Time now);

// Why a policy's answer counts for nothing; empty: it counts.
std::string why_unusable(const Recommendation& recommendation);

}  // namespace evenkeel::autoscaling
