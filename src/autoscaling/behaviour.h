#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "cluster/scaler.h"
#include "cluster/scaling_world.h"

namespace evenkeel::autoscaling {

// What the rules of a behaviour look back on. Bounded by the longest window: what fell out of it is replaced,
// as upstream does, so that a rule that is made longer meanwhile sees the same as upstream's.
struct BehaviourMemory {
  struct Recommended {
    std::int32_t replicas = 0;
    Time at{};
  };
  struct Change {
    std::int32_t replicas = 0;  // without its sign
    Time at{};
    bool outdated = false;  // its place may be taken
  };
  std::vector<Recommended> recommended;
  std::vector<Change> up, down;
};

// From where to where, and the bounds on the way.
struct ScalingStep {
  std::int32_t current = 0, desired = 0;
  std::int32_t min_replicas = 1, max_replicas = 1;
  Time now{};
};

// The first look at a workload counts as a recommendation of what it has: after a start or restart nothing is
// taken away before a window has passed.
void begin_recommendations(BehaviourMemory& memory, std::int32_t current, Time now);

// Stabilisation, then limits and bounds, exactly as Kubernetes 1.36; remembers `desired`. Without a
// behaviour: the highest of five minutes, at most twice as many or four. What changed the answer is added to
// `reasons`.
std::int32_t lay_behaviour(const std::optional<ScalingBehaviour>& behaviour, const ScalingStep& step,
                           BehaviourMemory& memory, std::vector<ScalingReason>& reasons);

// What was done counts against the limits' periods.
void note_change(const std::optional<ScalingBehaviour>& behaviour, std::int32_t from, std::int32_t to,
                 Time at, BehaviourMemory& memory);
// The same, taken back: it was not done after all.
void forget_change(std::int32_t from, std::int32_t to, Time at, BehaviourMemory& memory);

}  // namespace evenkeel::autoscaling
