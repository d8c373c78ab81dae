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
  std::vector<std::string> leave_first;
  bool acts = decision.to != decision.from;
  if (acts) {
    const std::optional<Refusal> refusal = why_not_act(*workload, request.now);
    // A preview shows what would have been; hands that are off do nothing.
    const bool is_preview = refusal && refusal->rule == "preview";
    if (refusal && !is_preview) {
      decision.to = decision.from;
    } else if (placement_) {
      if (decision.to > decision.from) decision.to = hold_to_room(request, decision.to, decision);
      if (decision.to < decision.from) leave_first = name_leavers(request, decision);
    }
    acts = !refusal && decision.to != decision.from;
    if (refusal) decision.reasons.push_back({refusal->rule, decision.to, refusal->why});
  }
  if (acts) {
    workload->asked = Asked{decision.from, decision.to, request.now, workload->spec.behaviour.has_value()};
    note_change(workload->spec.behaviour, decision.from, decision.to, request.now, workload->memory);
    if (workload->room)
      *workload->room = std::max(0, *workload->room - std::max(0, decision.to - decision.from));
    if (placement_ && decision.to > decision.from) placement_->promised(request, decision.to - decision.from);
    actions.emplace_back(
        ScaleWorkload{request.scaler, decision.from, decision.to, std::move(leave_first), lease_until_});
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
  const bool its_own = !spec.behaviour && decision.fallback.empty() && recommendation.behaviour;
  std::int32_t to = lay_behaviour(its_own ? recommendation.behaviour : spec.behaviour, step, workload.memory,
                                  decision.reasons);
  if (current == 0 && to < spec.min_replicas)
    to = say("bounds", spec.min_replicas, "fewer than minReplicas are set");
  if (workload.room && to > current + *workload.room)
    to = say("room", current + *workload.room, "no node has room for more");
  return to;
}

// What the owner sets as the least is not held back: it is no promise of ours.
std::int32_t Autoscaler::hold_to_room(const ScalingRequest& request, std::int32_t to,
                                      ScalingDecision& decision) const {
  if (decision.decided_by == "bounds") return to;
  const std::int32_t more = to - request.wanted;
  const Room room = placement_->room_for(request, more);
  if (!room.unknown.empty()) {
    decision.reasons.push_back({"placement", to, "whether they fit is not known: " + room.unknown});
    return to;
  }
  const std::int32_t fits = request.wanted + std::min(more, room.replicas);
  const std::int32_t held = std::max(fits, std::min(to, request.spec.min_replicas));
  const std::string where = room.where.empty() ? "" : " on " + room.where;
  if (held < to)
    decision.reasons.push_back({"room", held,
                                "room for " + std::to_string(room.replicas) + " of " + std::to_string(more) +
                                    " more" + where + (room.why.empty() ? "" : ": " + room.why)});
  else
    decision.reasons.push_back({"placement", held, "room for " + std::to_string(more) + " more" + where});
  return held;
}

std::vector<std::string> Autoscaler::name_leavers(const ScalingRequest& request,
                                                  ScalingDecision& decision) const {
  Leavers leavers = placement_->leavers_of(request, decision.from - decision.to);
  if (!leavers.why.empty()) decision.reasons.push_back({"placement", decision.to, std::move(leavers.why)});
  return std::move(leavers.pods);
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
