#include "kubernetes/scaling_convert.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/yaml_file.h"
#include "kubernetes/read_common.h"
#include "kubernetes/scaling_rules.h"
#include "kubernetes/scheduler_profile.h"
#include "kubernetes/yaml_to_json.h"

namespace evenkeel::kubernetes {
namespace {

constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
constexpr const char* kKind = "HorizontalPodAutoscaler";
// Where autoscaling/v1 keeps what it has no fields for.
constexpr const char* kAlphaMetrics = "autoscaling.alpha.kubernetes.io/metrics";
constexpr const char* kAlphaBehavior = "autoscaling.alpha.kubernetes.io/behavior";

void remark_on_metrics(ConvertedScaler& converted) {
  using Source = MetricTarget::Source;
  for (const MetricTarget& metric : converted.scaler.spec.metrics) {
    const bool is_known = metric.name == "cpu" || metric.name == "memory";
    switch (metric.source) {
      case Source::resource:
      case Source::container_resource:
        if (!is_known)
          converted.remarks.push_back(
              "metric " + metric.name +
              ": only cpu and memory are measured; write its query under sources.metrics");
        break;
      case Source::pods:
        converted.remarks.push_back("metric " + metric.name +
                                    ": HPA asks custom.metrics.k8s.io; here it is the series " + metric.name +
                                    " of Prometheus by label pod, or the query under sources.metrics");
        break;
      case Source::object:
      case Source::external:
        converted.remarks.push_back("metric " + metric.name + ": HPA asks " +
                                    (metric.source == Source::object ? "custom" : "external") +
                                    ".metrics.k8s.io; write the query that gives it under sources.metrics");
        break;
    }
  }
}

void read_v2(const JsonField& spec, ConvertedScaler& into) {
  refuse_unknown_fields(spec, {"scaleTargetRef", "minReplicas", "maxReplicas", "metrics", "behavior"});
  into.scaler.spec.metrics = read_metric_targets(spec.at("metrics"));
  into.scaler.spec.behaviour = read_behaviour(spec.at("behavior"));
  remark_on_metrics(into);
}

void read_v1(const JsonField& root, const JsonField& spec, ConvertedScaler& into) {
  refuse_unknown_fields(spec,
                        {"scaleTargetRef", "minReplicas", "maxReplicas", "targetCPUUtilizationPercentage"});
  if (const JsonField share = spec.at("targetCPUUtilizationPercentage")) {
    MetricTarget cpu;
    cpu.target = static_cast<double>(share.integer(1, kMost)) / 100.0;
    into.scaler.spec.metrics.push_back(std::move(cpu));
  }
  for (const char* key : {kAlphaMetrics, kAlphaBehavior})
    if (read_annotation(root, key))
      into.remarks.push_back(std::string(key) +
                             ": is left out; take the manifest from `kubectl get "
                             "horizontalpodautoscalers.v2.autoscaling -o yaml`");
}

Result<ConvertedScaler> read_hpa(JsonValue value, const std::string& name) {
  JsonReading reading(name);
  const JsonField root(reading, value);
  ConvertedScaler made;
  const Metadata metadata = read_metadata(root);
  reading.set_subject(std::string(kKind) + " " + metadata.name);
  made.scaler.uid = metadata.uid;
  made.scaler.created = metadata.created;
  made.scaler.spec.name_space = metadata.name_space.empty() ? "default" : metadata.name_space;
  made.scaler.spec.name = metadata.name;
  made.has_namespace = !metadata.name_space.empty();
  if (metadata.name.empty()) root.fail_at("metadata", "expected a name");
  for (const Label& label : metadata.labels.all()) made.labels.emplace_back(label.key, label.value);
  // What a list of the API server holds does not repeat it.
  const std::string version = root.text_at("apiVersion", "autoscaling/v2");
  const JsonField spec = root.at("spec");
  ScalerSpec& into = made.scaler.spec;
  into.policy = "hpa";
  into.mode = ScalerSpec::Mode::preview;
  into.target = read_scale_target(spec.at("scaleTargetRef"));
  into.min_replicas = static_cast<std::int32_t>(spec.at("minReplicas").integer(0, kMost, 1));
  into.max_replicas = static_cast<std::int32_t>(spec.at("maxReplicas").integer(1, kMost, 0));
  if (into.max_replicas < 1) spec.fail_at("maxReplicas", "expected 1 or more");
  if (into.min_replicas > into.max_replicas) spec.fail_at("minReplicas", "expected at most maxReplicas");
  if (version == "autoscaling/v2" || version == "autoscaling/v2beta2")
    read_v2(spec, made);
  else if (version == "autoscaling/v1")
    read_v1(root, spec, made);
  else
    root.fail_at("apiVersion", "expected autoscaling/v2 or autoscaling/v1, found '" + version + "'");
  if (into.min_replicas == 0 && version == "autoscaling/v1")
    made.remarks.emplace_back("minReplicas 0: needs a metric that is there without pods (Object, External)");
  if (reading.error()) return *reading.error();
  return made;
}

std::string dumped(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string text_at(const nlohmann::json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

Status add_one(nlohmann::json object, const std::string& where, std::vector<ConvertedScaler>& into,
               std::vector<std::string>& others) {
  if (!object.is_object()) return invalid(where + ": expected an object");
  const std::string kind = text_at(object, "kind");
  if (object.contains("items")) {
    // A typed list may leave out what its items are.
    const bool is_ours = kind == std::string(kKind) + "List";
    if (!object["items"].is_array()) return invalid(where + ": items: expected a list");
    for (nlohmann::json& item : object["items"]) {
      if (is_ours && item.is_object() && !item.contains("kind")) {
        item["kind"] = kKind;
        item["apiVersion"] = text_at(object, "apiVersion");
      }
      if (const Status added = add_one(std::move(item), where, into, others); !added) return added;
    }
    return {};
  }
  if (kind != kKind) {
    others.push_back(where + ": " + (kind.empty() ? "something without a kind" : kind) + " is left out");
    return {};
  }
  Result<ConvertedScaler> made = read_horizontal_pod_autoscaler(dumped(object));
  if (!made) return Error{made.error().kind, where + ": " + made.error().message};
  const nlohmann::json& spec = object["spec"];
  if (spec.contains("metrics")) made->metrics = dumped(spec["metrics"]);
  if (spec.contains("behavior")) made->behavior = dumped(spec["behavior"]);
  if (spec.contains("targetCPUUtilizationPercentage"))
    made->metrics = dumped(
        {{{"type", "Resource"},
          {"resource",
           {{"name", "cpu"},
            {"target",
             {{"type", "Utilization"}, {"averageUtilization", spec["targetCPUUtilizationPercentage"]}}}}}}});
  into.push_back(*std::move(made));
  return {};
}

}  // namespace

Result<ConvertedScaler> read_horizontal_pod_autoscaler(std::string_view json) {
  const auto document = JsonDocument::parse(json, kKind);
  if (!document) return document.error();
  return read_hpa(document->root(), kKind);
}

Result<std::vector<ConvertedScaler>> convert_manifest(std::string_view text, const std::string& name,
                                                      std::vector<std::string>& others) {
  // JSON is YAML too, and YAML's messages know the line.
  const Result<std::vector<YamlFile>> documents = YamlFile::parse_documents(text, name);
  if (!documents) return documents.error();
  std::vector<ConvertedScaler> made;
  for (const YamlFile& one : *documents) {
    const std::string where = name + ":" + std::to_string(one.root().line);
    nlohmann::json document = nlohmann::json::parse(yaml_to_json(one.root()), nullptr, false);
    if (document.is_discarded()) return invalid(where + ": cannot be read");
    if (const Status added = add_one(std::move(document), where, made, others); !added) return added.error();
  }
  return made;
}

}  // namespace evenkeel::kubernetes
