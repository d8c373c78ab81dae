#include "kubernetes/workload_scaler.h"

#include <limits>
#include <utility>

#include "kubernetes/read_common.h"
#include "kubernetes/scaling_rules.h"
#include "kubernetes/scheduler_profile.h"

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;
constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();

ServiceSources read_sources(const JsonField& field) {
  ServiceSources sources;
  if (!field) return sources;
  refuse_unknown_fields(field, {"template", "metric", "labels", "requestRate", "responseTime", "inFlight",
                                "measured", "metrics"});
  sources.ready_made = field.choice_at<std::string>(
      "template",
      {{"istio", "istio"}, {"http-histogram", "http-histogram"}, {"cadvisor", "cadvisor"}, {"none", "none"}},
      "");
  sources.metric = field.text_at("metric", sources.metric);
  sources.labels = field.text_at("labels");
  sources.request_rate = field.text_at("requestRate");
  sources.response_time = field.text_at("responseTime");
  sources.in_flight = field.text_at("inFlight");
  sources.measured = field.text_at("measured");
  for (const auto& [name, query] : few_entries(field.at("metrics")))
    sources.metrics[std::string(name)] = query.text();
  return sources;
}

ServiceLevel read_level(const JsonField& field) {
  ServiceLevel level;
  if (!field) return level;
  refuse_unknown_fields(field, {"percentile", "responseTime"});
  if (const JsonField percentile = field.at("percentile")) {
    level.percentile = percentile.number() / 100.0;
    if (!(level.percentile > 0 && level.percentile < 1)) percentile.fail("expected above 0 and below 100");
  }
  level.bound = duration_at(field, "responseTime", level.bound);
  if (level.bound <= Duration{}) field.fail_at("responseTime", "expected more than nothing");
  return level;
}

void read_spec(const JsonField& field, WorkloadScaler& into) {
  refuse_unknown_fields(field,
                        {"scaleTargetRef", "minReplicas", "maxReplicas", "mode", "policy", "policyArguments",
                         "serviceLevel", "interval", "staleAfter", "metrics", "behavior", "sources"});
  ScalerSpec& spec = into.spec;
  spec.target = read_scale_target(field.at("scaleTargetRef"));
  spec.min_replicas = static_cast<std::int32_t>(field.at("minReplicas").integer(0, kMost, 1));
  spec.max_replicas = static_cast<std::int32_t>(field.at("maxReplicas").integer(1, kMost, 0));
  if (spec.max_replicas < 1) field.fail_at("maxReplicas", "expected 1 or more");
  if (spec.min_replicas > spec.max_replicas)
    field.fail_at("minReplicas", "expected at most maxReplicas, " + std::to_string(spec.max_replicas) +
                                     ", found " + std::to_string(spec.min_replicas));
  using Mode = ScalerSpec::Mode;
  spec.mode = field.choice_at<Mode>(
      "mode", {{"Preview", Mode::preview}, {"Auto", Mode::automatic}, {"Paused", Mode::paused}},
      Mode::preview);
  spec.policy = field.text_at("policy", spec.policy);
  for (const auto& [name, value] : few_entries(field.at("policyArguments")))
    spec.arguments[std::string(name)] = value.text();
  spec.metrics = read_metric_targets(field.at("metrics"));
  spec.behaviour = read_behaviour(field.at("behavior"));
  spec.level = read_level(field.at("serviceLevel"));
  spec.interval = duration_at(field, "interval", spec.interval);
  if (spec.interval < 1s || spec.interval > 1h) field.fail_at("interval", "expected 1s to 1h");
  spec.stale_after = duration_at(field, "staleAfter", spec.stale_after);
  if (spec.stale_after <= Duration{}) field.fail_at("staleAfter", "expected more than nothing");
  into.sources = read_sources(field.at("sources"));
}

}  // namespace

namespace types {
ResourceType workload_scalers() { return {"evenkeel.io/v1alpha1", "WorkloadScaler", "workloadscalers"}; }
ResourceType horizontal_pod_autoscalers() {
  return {"autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers"};
}
}  // namespace types

Result<WorkloadScaler> read_workload_scaler(std::string_view json) {
  const auto document = JsonDocument::parse(json, "WorkloadScaler");
  if (!document) return document.error();
  JsonReading reading("WorkloadScaler");
  const JsonField root(reading, document->root());
  WorkloadScaler made;
  const Metadata metadata = read_metadata(root);
  reading.set_subject("WorkloadScaler " + metadata.name_space + "/" + metadata.name);
  made.uid = metadata.uid;
  made.created = metadata.created;
  made.generation =
      root.at("metadata").at("generation").integer(0, std::numeric_limits<std::int64_t>::max(), 0);
  made.spec.name_space = metadata.name_space.empty() ? "default" : metadata.name_space;
  made.spec.name = metadata.name;
  if (!root.has("spec")) root.fail_at("spec", "expected a specification, found nothing");
  read_spec(root.at("spec"), made);
  if (reading.error()) return *reading.error();
  return made;
}

}  // namespace evenkeel::kubernetes
