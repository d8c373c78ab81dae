#include "kubernetes/scaling_rules.h"

#include <limits>
#include <string_view>
#include <utility>

#include "kubernetes/read_common.h"
#include "kubernetes/scheduler_profile.h"

namespace evenkeel::kubernetes {
namespace {

using Limit = ScalingRules::Limit;
using Source = MetricTarget::Source;
constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();

double amount_of(const JsonField& field) { return static_cast<double>(field.quantity_milli()) * 1e-3; }

void read_target(const JsonField& target, MetricTarget& into) {
  refuse_unknown_fields(target, {"type", "averageUtilization", "averageValue", "value"});
  using Kind = MetricTarget::Kind;
  into.kind = target.choice_at<Kind>(
      "type",
      {{"Utilization", Kind::utilisation}, {"AverageValue", Kind::average_value}, {"Value", Kind::value}},
      Kind::utilisation);
  if (!target.has("type"))
    target.fail_at("type", "expected Utilization, AverageValue or Value, found nothing");
  const char* const key = into.kind == Kind::utilisation     ? "averageUtilization"
                          : into.kind == Kind::average_value ? "averageValue"
                                                             : "value";
  const JsonField wanted = target.at(key);
  if (!wanted) return target.fail_at(key, "expected how much, found nothing");
  into.target = into.kind == Kind::utilisation ? static_cast<double>(wanted.integer(1, kMost)) / 100.0
                                               : amount_of(wanted);
  if (into.target <= 0) wanted.fail("expected more than nothing");
}

void read_named_metric(const JsonField& metric, MetricTarget& into) {
  refuse_unknown_fields(metric, {"name", "selector"});
  into.name = metric.required_text_at("name");
  into.selector = selector_text(metric.at("selector"));
}

MetricTarget read_metric(const JsonField& metric) {
  refuse_unknown_fields(metric, {"type", "resource", "containerResource", "pods", "object", "external"});
  struct Form {
    Source source;
    std::string_view key;
  };
  MetricTarget made;
  const Form form =
      metric.choice_at<Form>("type",
                             {{"Resource", {Source::resource, "resource"}},
                              {"ContainerResource", {Source::container_resource, "containerResource"}},
                              {"Pods", {Source::pods, "pods"}},
                              {"Object", {Source::object, "object"}},
                              {"External", {Source::external, "external"}}},
                             {Source::resource, ""});
  made.source = form.source;
  if (form.key.empty()) {
    metric.fail_at("type", "expected Resource, ContainerResource, Pods, Object or External, found nothing");
    return made;
  }
  const JsonField body = metric.at(form.key);
  if (!body) {
    metric.fail_at(form.key, "expected what type " + metric.text_at("type") + " needs, found nothing");
    return made;
  }
  if (made.source == Source::resource || made.source == Source::container_resource) {
    refuse_unknown_fields(body, {"name", "container", "target"});
    made.name = body.required_text_at("name");
    if (made.source == Source::container_resource) made.container = body.required_text_at("container");
  } else {
    refuse_unknown_fields(body, {"metric", "target", "describedObject"});
    read_named_metric(body.at("metric"), made);
  }
  if (made.source == Source::object) {
    const JsonField object = body.at("describedObject");
    made.object = object.required_text_at("kind") + "/" + object.required_text_at("name");
  }
  read_target(body.at("target"), made);
  return made;
}

// What the API server fills in where a block is there and says nothing.
ScalingRules default_rules(bool up) {
  using namespace std::chrono_literals;
  ScalingRules rules;
  rules.limits.push_back({Limit::Kind::percent, 100, 15s});
  if (up) {
    rules.limits.insert(rules.limits.begin(), {Limit::Kind::pods, 4, 15s});
    rules.stabilisation = 0s;
  }
  return rules;
}

ScalingRules read_rules(const JsonField& field, bool up) {
  ScalingRules rules = default_rules(up);
  if (!field) return rules;
  refuse_unknown_fields(field, {"stabilizationWindowSeconds", "selectPolicy", "policies", "tolerance"});
  rules.select = field.choice_at<ScalingRules::Select>("selectPolicy",
                                                       {{"Max", ScalingRules::Select::most},
                                                        {"Min", ScalingRules::Select::least},
                                                        {"Disabled", ScalingRules::Select::disabled}},
                                                       ScalingRules::Select::most);
  if (const JsonField window = field.at("stabilizationWindowSeconds"))
    rules.stabilisation = std::chrono::seconds(window.integer(0, 3600));
  if (const JsonField tolerance = field.at("tolerance")) {
    rules.tolerance = amount_of(tolerance);
    if (*rules.tolerance < 0) tolerance.fail("expected nothing or more");
  }
  if (!field.has("policies")) return rules;
  rules.limits.clear();
  for (const JsonField& policy : few_items(field.at("policies"))) {
    refuse_unknown_fields(policy, {"type", "value", "periodSeconds"});
    Limit limit;
    limit.kind = policy.choice_at<Limit::Kind>(
        "type", {{"Pods", Limit::Kind::pods}, {"Percent", Limit::Kind::percent}}, Limit::Kind::pods);
    if (!policy.has("type")) policy.fail_at("type", "expected Pods or Percent, found nothing");
    limit.value = static_cast<std::int32_t>(policy.at("value").integer(1, kMost, 0));
    if (limit.value < 1) policy.fail_at("value", "expected 1 or more");
    limit.period = std::chrono::seconds(policy.at("periodSeconds").integer(1, 1800, 0));
    if (limit.period <= Duration{}) policy.fail_at("periodSeconds", "expected 1 to 1800");
    rules.limits.push_back(limit);
  }
  if (rules.limits.empty()) field.fail_at("policies", "expected at least one policy");
  return rules;
}

std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

}  // namespace

std::vector<MetricTarget> read_metric_targets(const JsonField& metrics) {
  std::vector<MetricTarget> targets;
  for (const JsonField& metric : few_items(metrics)) targets.push_back(read_metric(metric));
  return targets;
}

std::optional<ScalingBehaviour> read_behaviour(const JsonField& behavior) {
  if (!behavior) return std::nullopt;
  refuse_unknown_fields(behavior, {"scaleUp", "scaleDown"});
  return ScalingBehaviour{read_rules(behavior.at("scaleUp"), true),
                          read_rules(behavior.at("scaleDown"), false)};
}

ScalerSpec::Target read_scale_target(const JsonField& reference) {
  refuse_unknown_fields(reference, {"apiVersion", "kind", "name"});
  return {reference.text_at("apiVersion", "v1"), reference.required_text_at("kind"),
          reference.required_text_at("name")};
}

std::string selector_text(const JsonField& selector) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ",") + part; };
  for (const auto& [key, value] : few_entries(selector.at("matchLabels")))
    add(std::string(key) + "=" + value.text());
  for (const JsonField& expression : few_items(selector.at("matchExpressions"))) {
    const std::string key = expression.required_text_at("key"), op = expression.required_text_at("operator");
    std::string values;
    for (const std::string& value : expression.texts_at("values"))
      values += (values.empty() ? "" : ",") + value;
    if (op == "In") add(key + " in (" + values + ")");
    if (op == "NotIn") add(key + " notin (" + values + ")");
    if (op == "Exists") add(key);
    if (op == "DoesNotExist") add("!" + key);
  }
  return text;
}

bool is_same_target(const ScalerSpec::Target& one, const ScalerSpec::Target& other) {
  return one.kind == other.kind && one.name == other.name &&
         group_of(one.api_version) == group_of(other.api_version);
}

}  // namespace evenkeel::kubernetes
