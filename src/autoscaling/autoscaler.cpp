#include "autoscaling/autoscaler.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace evenkeel::autoscaling {
namespace {

std::string seconds_text(Duration duration) {
  return std::to_string(std::llround(to_seconds(duration))) + " s";
}

}  // namespace

Autoscaler::Autoscaler(AutoscalerOptions options) : options_(options) {}

Time Autoscaler::wake_at() const {
  if (!ready_.empty()) return Time::min();
  return deadlines_.empty() ? Time::max() : deadlines_.begin()->first;
}

std::optional<ScalingRequest> Autoscaler::next(Time now) {
  for (;;) {
    std::uint32_t slot = 0;
    if (!ready_.empty()) {
      slot = ready_.front();
      ready_.pop_front();
      // Its slot may be another's by now, or nobody's.
      if (!std::exchange(workloads_[slot].queued, false)) continue;
    } else if (!deadlines_.empty() && deadlines_.begin()->first <= now) {
      slot = deadlines_.begin()->second;
    } else {
      return std::nullopt;
    }
    Workload& workload = workloads_[slot];
    schedule(workload, std::max(now, workload.due));
    if (!workload.report) continue;
    drop_stale(*workload.report, workload.spec.stale_after, now);
    if (workload.room && now - workload.room_seen > workload.spec.stale_after) workload.room.reset();
    return ScalingRequest{
        workload.id,      workload.spec, *workload.report, workload.past.reports(), workload.past.decisions(),
        wanted(workload), now,           workload.room};
  }
}

std::vector<ScalingAction> Autoscaler::commit(const ScalingRequest& request, Recommendation recommendation) {
  Workload* const workload = find(request.scaler);
  EVENKEEL_CHECK(workload);
  ScalingDecision decision{.at = request.now, .from = request.wanted, .to = request.wanted, .decided_by = ""};
  decision.to = decide(*workload, request, std::move(recommendation), decision);

  std::vector<ScalingAction> actions;
  bool acts = decision.to != decision.from;
  if (acts) {
    if (const std::optional<Refusal> refusal = why_not_act(*workload, request.now)) {
      acts = false;
      // A preview shows what would have been; hands that are off do nothing.
      if (refusal->rule != "preview") decision.to = decision.from;
      decision.reasons.push_back({refusal->rule, decision.to, refusal->why});
    }
  }
  if (acts) {
    workload->asked = Asked{decision.from, decision.to, request.now};
    note_change(workload->spec.behaviour, decision.from, decision.to, request.now, workload->memory);
    if (workload->room)
      *workload->room = std::max(0, *workload->room - std::max(0, decision.to - decision.from));
    actions.emplace_back(ScaleWorkload{request.scaler, decision.from, decision.to, {}, lease_until_});
    workload->past.add(decision, options_.past);
  }
  actions.emplace_back(TellDecision{request.scaler, std::move(decision), acts});
  return actions;
}

std::int32_t Autoscaler::decide(Workload& workload, const ScalingRequest& request,
                                Recommendation recommendation, ScalingDecision& decision) const {
  const ScalerSpec& spec = workload.spec;
  const std::int32_t current = request.wanted;
  const auto say = [&](std::string rule, std::int32_t replicas, std::string text) {
    decision.reasons.push_back({std::move(rule), replicas, std::move(text)});
    return replicas;
  };
  const auto hold = [&](std::string rule, std::string text) {
    decision.decided_by = "hold";
    return say(std::move(rule), current, std::move(text));
  };

  if (request.now - request.report.measured > spec.stale_after) {
    decision.fallback =
        "the last look at it is " + seconds_text(request.now - request.report.measured) + " old";
    return hold("hold", decision.fallback);
  }
  begin_recommendations(workload.memory, current, request.now);
  if (current == 0 && !workload.slept) return hold("disabled", "somebody wants no replicas of it");
  if (current != 0 && (current > spec.max_replicas || current < spec.min_replicas)) {
    decision.decided_by = "bounds";
    return current > spec.max_replicas ? say("bounds", spec.max_replicas, "more than maxReplicas are set")
                                       : say("bounds", spec.min_replicas, "fewer than minReplicas are set");
  }

  std::int32_t desired = recommendation.replicas;
  decision.decided_by = spec.policy;
  decision.reasons = std::move(recommendation.reasons);
  decision.fallback = why_unusable(recommendation);
  if (!decision.fallback.empty()) {
    if (spec.policy == "hpa") return hold("hold", decision.fallback);
    ReplicaProposal proposal =
        propose_replicas(spec, request.report, current, request.now, options_.calculator);
    if (!proposal.replicas) return hold("hold", decision.fallback + "; hpa: " + proposal.problem);
    decision.decided_by = "hpa";
    desired = say("fallback", *proposal.replicas, proposal.text);
  } else if (recommendation.unexplored && desired < *recommendation.unexplored) {
    desired = say("policy", *recommendation.unexplored, "nothing is tried out downwards");
  }

  const ScalingStep step{current, desired, spec.min_replicas, spec.max_replicas, request.now};
  std::int32_t to = lay_behaviour(spec.behaviour, step, workload.memory, decision.reasons);
  if (current == 0 && to < spec.min_replicas)
    to = say("bounds", spec.min_replicas, "fewer than minReplicas are set");
  if (workload.room && to > current + *workload.room)
    to = say("room", current + *workload.room, "no node has room for more");
  return to;
}

std::optional<Autoscaler::Refusal> Autoscaler::why_not_act(const Workload& workload, Time now) const {
  if (workload.spec.mode == ScalerSpec::Mode::paused) return Refusal{"paused", "its spec says Paused"};
  if (!workload.rival.empty()) return Refusal{"rival", workload.rival + " scales it"};
  if (options_.preview || workload.spec.mode == ScalerSpec::Mode::preview)
    return Refusal{"preview", "recommended, not done"};
  if (now >= lease_until_) return Refusal{"lease", "another instance may hold the lease"};
  if (workload.asked) return Refusal{"hold", "what became of the last scaling is not known yet"};
  if (workload.report->measured <= workload.look_after)
    return Refusal{"hold", "it was not looked at since the last scaling failed"};
  return std::nullopt;
}

Autoscaler::Workload* Autoscaler::find(ScalerId scaler) {
  return const_cast<Workload*>(std::as_const(*this).find(scaler));
}

const Autoscaler::Workload* Autoscaler::find(ScalerId scaler) const {
  if (scaler.slot >= workloads_.size()) return nullptr;
  const Workload& workload = workloads_[scaler.slot];
  return workload.there && workload.id == scaler ? &workload : nullptr;
}

std::int32_t Autoscaler::wanted(const Workload& workload) {
  return workload.asked ? workload.asked->to : workload.set_to;
}

const ScalerSpec* Autoscaler::spec_of(ScalerId scaler) const {
  const Workload* const workload = find(scaler);
  return workload ? &workload->spec : nullptr;
}

std::optional<std::int32_t> Autoscaler::wanted_of(ScalerId scaler) const {
  const Workload* const workload = find(scaler);
  if (!workload || !(workload->report || workload->asked)) return std::nullopt;
  return wanted(*workload);
}

}  // namespace evenkeel::autoscaling
