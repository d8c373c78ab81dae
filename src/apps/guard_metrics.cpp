#include "apps/guard_metrics.h"

#include "apps/live_stage.h"

namespace evenkeel::apps {

using scheduling::Fallback;
using scheduling::Stage;

GuardMetrics::GuardMetrics(reporting::MetricsRegistry& registry)
    : fallback_(registry.gauges({"evenkeel_policy_fallback",
                                 "1 while the rule decides in a learned policy's stead, by why.",
                                 {"profile", "reason"}})),
      transitions_(registry.counters({"evenkeel_policy_transitions_total",
                                      "How often a guard fell back to the rule, or returned.",
                                      {"profile", "to"}})),
      decisions_(registry.counters({"evenkeel_policy_decisions_total",
                                    "Decisions of guarded profiles by who made them; reason says why the "
                                    "rule did where it was the learned policy's turn.",
                                    {"profile", "decider", "reason"}})),
      stage_(registry.gauges({"evenkeel_policy_stage",
                              "1 for the stage that a profile's learned policy has got to.",
                              {"profile", "stage"}})),
      moves_(registry.counters({"evenkeel_moves_total",
                                "Pods moved to other nodes: asked for, refused, or only proposed.",
                                {"outcome"}})) {
  for (const char* outcome : {"asked", "refused", "proposed"}) moves_.with({outcome}).add(0);
}

void GuardMetrics::serves(std::span<const LiveProfile> profiles) {
  for (const LiveProfile& profile : profiles)
    if (scheduling::Guarded* guard = profile.policy ? guard_of(*profile.policy) : nullptr)
      guards_.push_back({profile.scheduler_name, guard});
}

void GuardMetrics::refresh() {
  for (const Watched& watched : guards_) refresh(watched);
}

void GuardMetrics::refresh(const Watched& watched) {
  const scheduling::GuardState& state = watched.guard->state();
  for (std::size_t i = 1; i < scheduling::kFallbacks; ++i) {
    const auto reason = static_cast<Fallback>(i);
    fallback_.with({watched.profile, name_of(reason)}).set(state.reason == reason ? 1 : 0);
    if (state.instead[i] > 0)
      decisions_.with({watched.profile, "rule", name_of(reason)}).raise_to(state.instead[i]);
  }
  transitions_.with({watched.profile, "rule"}).raise_to(state.falls);
  transitions_.with({watched.profile, "learned"}).raise_to(state.returns);
  decisions_.with({watched.profile, "learned", "stage"}).raise_to(state.by_learned);
  decisions_.with({watched.profile, "rule", "stage"}).raise_to(state.by_rule);
  const auto& stage = watched.guard->stage();
  for (const Stage each : {Stage::shadow, Stage::canary, Stage::full})
    stage_.with({watched.profile, name_of(each)}).set(stage && stage->stage == each ? 1 : 0);
}

void GuardMetrics::acted(const Action& action) {
  if (const auto* move = std::get_if<EvictPod>(&action))
    moves_.with({move->proposed ? "proposed" : "asked"}).add();
}

void GuardMetrics::observed(const ClusterEvent& event) {
  if (std::holds_alternative<EvictFailed>(event)) moves_.with({"refused"}).add();
}

}  // namespace evenkeel::apps
