#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/scaling_world.h"

namespace evenkeel::autoscaling {

// "How many replicas now?", with all that may be known for the answer. A view, valid until the answer.
struct ScalingRequest {
  ScalerId scaler;
  const ScalerSpec& spec;
  // The latest. What is no number or older than the spec's stale_after has been taken out of it.
  const ServiceReport& report;
  // Earlier ones, oldest first, at most an hour, without their replicas; those older than a quarter of an
  // hour a minute apart.
  std::span<const ServiceReport> past;
  // Those of the last hour that changed something, oldest first, without their reasons.
  std::span<const ScalingDecision> decisions;
  std::int32_t wanted = 0;  // as it stands now: what was last asked for counts at once
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
  // What it would say if it tried nothing out, where it does: exploring goes upwards from there only.
  std::optional<std::int32_t> unexplored{};
};

}  // namespace evenkeel::autoscaling
