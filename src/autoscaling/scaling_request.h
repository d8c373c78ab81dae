#pragma once
#include <cstdint>
#include <span>

#include "cluster/scaling_world.h"

namespace evenkeel::autoscaling {

// "How many replicas now?", with all that may be known for the answer. A view, valid until the answer.
struct ScalingRequest {
  ScalerId scaler;
  const ScalerSpec& spec;
  const ServiceReport& report;                 // the latest
  std::span<const ServiceReport> past;         // earlier ones, oldest first, at most an hour
  std::span<const ScalingDecision> decisions;  // likewise
  std::int32_t wanted = 0;                     // as it stands now: what was last asked for counts at once
  Time now{};
  // How many more would find room on the cluster; none: nobody has looked.
  std::optional<std::int32_t> room{};
};

// A policy's answer, before bounds, behaviour and guard rails are laid over it.
struct Recommendation {
  std::int32_t replicas = 0;
  std::vector<ScalingReason> reasons{};
  // The policy could not tell (no metrics, no model): the fallback decides, and says this.
  std::string unable{};
};

}  // namespace evenkeel::autoscaling
