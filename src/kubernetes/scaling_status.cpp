#include "kubernetes/scaling_status.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "kubernetes/rfc3339.h"

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
constexpr Duration kNumbersEvery = 60s;
constexpr std::size_t kLongestText = 1024;

std::string time_text(Time time) {
  return format_rfc3339(time.time_since_epoch().count() / 1'000'000, 0, false)
      .value_or("1970-01-01T00:00:00Z");
}

std::string dumped(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

std::string cut(const std::string& text) {
  if (text.size() <= kLongestText) return text;
  std::size_t end = kLongestText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

bool has_rule(const ScalingDecision& decision, std::string_view rule) {
  return std::any_of(decision.reasons.begin(), decision.reasons.end(),
                     [&](const ScalingReason& reason) { return reason.rule == rule; });
}

const ScalingReason* last_of(const ScalingDecision& decision, std::initializer_list<std::string_view> rules) {
  for (auto reason = decision.reasons.rbegin(); reason != decision.reasons.rend(); ++reason)
    if (std::find(rules.begin(), rules.end(), reason->rule) != rules.end()) return &*reason;
  return nullptr;
}

}  // namespace

std::string reasons_text(const ScalingDecision& decision) {
  std::string text;
  for (const ScalingReason& reason : decision.reasons) text += (text.empty() ? "" : "; ") + reason.text;
  if (!decision.fallback.empty() && !has_rule(decision, "fallback"))
    text += (text.empty() ? "" : "; ") + decision.fallback;
  return text;
}

void ScalingStatus::read(std::string_view object_json) {
  const auto document = JsonDocument::parse(object_json, "WorkloadScaler");
  if (!document) return;
  JsonReading reading("status");
  const JsonField status = JsonField(reading, document->root()).at("status");
  std::vector<Condition> read;
  for (const JsonField& one : status.at("conditions").items())
    read.push_back({one.text_at("type"), one.text_at("status"), one.text_at("reason"), one.text_at("message"),
                    one.at("lastTransitionTime").time().value_or(Time{})});
  const auto scaled = status.at("lastScaleTime").time();
  if (reading.error()) return;
  conditions_ = std::move(read);
  scaled_ = scaled;
}

const ScalingStatus::Condition* ScalingStatus::condition(std::string_view type) const {
  for (const Condition& one : conditions_)
    if (one.type == type) return &one;
  return nullptr;
}

bool ScalingStatus::slept() const {
  const Condition* zero = condition("ScaledToZero");
  return zero && zero->status == "True";
}

void ScalingStatus::set(std::string_view type, bool is_true, std::string reason, const std::string& message,
                        Time now) {
  const char* const status = is_true ? "True" : "False";
  auto at = std::find_if(conditions_.begin(), conditions_.end(),
                         [&](const Condition& one) { return one.type >= type; });
  if (at == conditions_.end() || at->type != type)
    at = conditions_.insert(at, Condition{std::string(type), "", "", "", now});
  if (at->status != status) at->changed = now;
  at->status = status;
  at->reason = std::move(reason);
  at->message = cut(message);
}

void ScalingStatus::decided(const WorkloadScaler& scaler, const TellDecision& told, const std::string& rival,
                            Time now) {
  using Mode = ScalerSpec::Mode;
  const ScalingDecision& decision = told.decision;
  last_ = told;
  desired_ = decision.to;
  if (!rival.empty())
    set("ScalingActive", false, "RivalScaler", rival + " scales the same target: hands off while it is there",
        now);
  else if (scaler.spec.mode == Mode::paused)
    set("ScalingActive", false, "Paused", "spec.mode is Paused", now);
  else if (const auto* disabled = last_of(decision, {"disabled"}))
    set("ScalingActive", false, "ScalingDisabled", disabled->text, now);
  else if (decision.decided_by == "hold")
    set("ScalingActive", false, "FailedGetMetrics", reasons_text(decision), now);
  else if (!decision.fallback.empty())
    set("ScalingActive", true, "FallbackDecided", decision.decided_by + " decided: " + decision.fallback,
        now);
  else
    set("ScalingActive", true, "ValidMetricFound",
        decision.decided_by + " decided: " + reasons_text(decision), now);

  if (const auto* stabilised = last_of(decision, {"stabilisation"}))
    set("AbleToScale", true, decision.to >= decision.from ? "ScaleDownStabilized" : "ScaleUpStabilized",
        stabilised->text, now);
  else if (decision.from == decision.to)
    set("AbleToScale", true, "ReadyForNewScale", "recommended size matches current size", now);
  else if (!told.acted)
    set("AbleToScale", true, "SucceededGetScale", "the target's scale was read", now);

  const ScalingReason* limit = last_of(decision, {"limit", "bounds", "room"});
  if (!limit)
    set("ScalingLimited", false, "DesiredWithinRange", "the desired count is within the acceptable range",
        now);
  else if (limit->rule == "room")
    set("ScalingLimited", true, "NoRoom", limit->text, now);
  else if (limit->rule == "bounds")
    set("ScalingLimited", true,
        limit->replicas >= scaler.spec.max_replicas ? "TooManyReplicas" : "TooFewReplicas", limit->text, now);
  else
    set("ScalingLimited", true, decision.to >= decision.from ? "ScaleUpLimit" : "ScaleDownLimit", limit->text,
        now);

  if (scaler.spec.mode != Mode::automatic)
    set("Acting", false, scaler.spec.mode == Mode::preview ? "Preview" : "Paused",
        "spec.mode says so: nothing is scaled", now);
  else if (!rival.empty())
    set("Acting", false, "RivalScaler", rival + " scales the same target", now);
  else if (const auto* lease = last_of(decision, {"lease"}))
    set("Acting", false, "NotLeading", lease->text, now);
  else
    set("Acting", true, "Auto", "what is decided is done", now);
}

void ScalingStatus::seen(std::int32_t there) { there_ = there; }

void ScalingStatus::unseen(const std::string& why, Time now) {
  set("AbleToScale", false, "FailedGetScale", "unable to get the target's current scale: " + why, now);
}

void ScalingStatus::rescaled(std::int32_t to, Time now) {
  scaled_ = now;
  set("AbleToScale", true, "SucceededRescale", "the target's scale was updated to " + std::to_string(to),
      now);
  if (to == 0)
    set("ScaledToZero", true, "ScaledToZero", "the workload was scaled to zero", now);
  else if (condition("ScaledToZero"))
    set("ScaledToZero", false, "NotScaledToZero", "the workload has replicas", now);
}

void ScalingStatus::not_rescaled(const std::string& why, Time now) {
  set("AbleToScale", false, "FailedUpdateScale", "unable to update the target's scale: " + why, now);
}

void ScalingStatus::invalid_spec(const std::string& why, Time now) {
  set("ScalingActive", false, "InvalidSpec", why, now);
}

std::optional<std::string> ScalingStatus::news(const WorkloadScaler& scaler, Time now) {
  json status = {{"observedGeneration", scaler.generation},
                 {"target", scaler.spec.target.kind + "/" + scaler.spec.target.name}};
  if (there_) status["currentReplicas"] = *there_;
  if (desired_) status["desiredReplicas"] = *desired_;
  json brief = status;
  for (const Condition& one : conditions_) {
    status["conditions"].push_back({{"type", one.type},
                                    {"status", one.status},
                                    {"reason", one.reason},
                                    {"message", one.message},
                                    {"lastTransitionTime", time_text(one.changed)}});
    brief["conditions"].push_back({one.type, one.status, one.reason});
  }
  if (scaled_) status["lastScaleTime"] = time_text(*scaled_);
  if (last_) {
    const ScalingDecision& decision = last_->decision;
    json told = {{"time", time_text(decision.at)},
                 {"from", decision.from},
                 {"to", decision.to},
                 {"acted", last_->acted},
                 {"decidedBy", decision.decided_by},
                 {"fallback", cut(decision.fallback)},
                 {"message", cut(reasons_text(decision))},
                 {"reasons", json::array()}};
    for (const ScalingReason& reason : decision.reasons)
      told["reasons"].push_back(
          {{"rule", reason.rule}, {"replicas", reason.replicas}, {"message", cut(reason.text)}});
    status["lastDecision"] = std::move(told);
    brief["by"] = {decision.decided_by, decision.fallback.empty()};
  }
  if (std::string essence = dumped(brief); essence != essence_)
    essence_ = std::move(essence);
  else if (now - written_ < kNumbersEvery)
    return std::nullopt;
  written_ = now;
  return dumped({{"status", std::move(status)}});
}

}  // namespace evenkeel::kubernetes
