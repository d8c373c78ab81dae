#pragma once
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cluster/scaler.h"
#include "cluster/service_report.h"

namespace evenkeel {

// Of a workload that is scaled. As with pods: a slot is used again, the generation tells them apart.
struct ScalerId {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  auto operator<=>(const ScalerId&) const = default;
};

// Facts, in.
struct ScalerSet {  // is there now, or looks different
  ScalerId scaler;
  ScalerSpec spec;
  // As its status says: it has no replicas because we took the last one away, not because somebody wants
  // none.
  bool slept = false;
};
struct ScalerGone {
  ScalerId scaler;
};
struct ServiceReported {
  ScalerId scaler;
  ServiceReport report;
};
// A look that failed, or metrics that nobody could tell: what was known grows older.
struct ServiceUnseen {
  ScalerId scaler;
  std::string why;
};
struct Scaled {
  ScalerId scaler;
  std::int32_t replicas = 0;
};
// Refused, in conflict or lost on the way. Decided about anew at the next turn.
struct ScaleFailed {
  ScalerId scaler;
  std::string why;
  bool refused = false;  // for certain, by whoever was to do it; else it may have been done all the same
};
// Somebody else scales the same target (an HPA, another WorkloadScaler): hands off while it is there.
struct RivalSeen {
  ScalerId scaler;
  std::string who;  // empty: nobody any more
};
// How many more replicas would find a node; none: nobody can tell any more.
struct RoomSeen {
  ScalerId scaler;
  std::optional<std::int32_t> replicas{};
};
using ScalingEvent = std::variant<ScalerSet, ScalerGone, ServiceReported, ServiceUnseen, Scaled, ScaleFailed,
                                  RivalSeen, RoomSeen>;

// Why so many: one line of a decision.
struct ScalingReason {
  // "policy", "forecast", "level", "stabilisation", "limit", "bounds", "tolerance", "fallback", "room",
  // "placement", "paused", "rival", "lease", "disabled", "hold"
  std::string rule;
  std::int32_t replicas = 0;  // as it stood after this rule
  std::string text;
};
struct ScalingDecision {
  Time at{};
  std::int32_t from = 0, to = 0;
  std::string decided_by;  // policy, or the one that took over
  std::string fallback{};  // why another decided; empty: nobody had to
  std::vector<ScalingReason> reasons{};
};

// Decisions, out.
struct ScaleWorkload {
  ScalerId scaler;
  std::int32_t from = 0, to = 0;           // `from`: what it must still say for this to hold
  std::vector<std::string> leave_first{};  // pods that had better go, the first of them first
  Time not_after = Time::max();            // not to be sent later: the lease may be somebody else's by then
};
// What status and Events are made of; also of decisions that change nothing or are not acted upon.
struct TellDecision {
  ScalerId scaler;
  ScalingDecision decision;
  bool acted = false;
};
using ScalingAction = std::variant<ScaleWorkload, TellDecision>;

class ScalingWorld {
 public:
  virtual ~ScalingWorld() = default;
  virtual Time now() const = 0;
  // As World: blocks until something happens or the deadline passes; nothing means shutdown.
  virtual std::optional<std::span<const ScalingEvent>> wait_for_events(Time deadline) = 0;
  // Never blocks and never fails here: the outcome comes back as an event.
  virtual void execute(const ScalingAction& action) = 0;
};

}  // namespace evenkeel
