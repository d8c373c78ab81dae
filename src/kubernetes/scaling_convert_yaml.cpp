#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "base/numbers.h"
#include "base/unit_text.h"
#include "kubernetes/scaling_convert.h"

namespace evenkeel::kubernetes {
namespace {

using Source = MetricTarget::Source;

// Quoted where YAML could take it for something else.
std::string word(const std::string& text) {
  const bool is_plain =
      !text.empty() &&
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-./_") ==
          std::string::npos &&
      std::isalpha(static_cast<unsigned char>(text.front())) != 0 && text != "true" && text != "false" &&
      text != "null" && text != "yes" && text != "no" && text != "on" && text != "off" && text != "y" &&
      text != "n";
  return is_plain ? text
                  : nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// A Quantity: whole numbers plain, others in thousandths.
std::string quantity(double amount) {
  const auto milli = static_cast<std::int64_t>(std::llround(amount * 1000));
  return milli % 1000 == 0 ? word(std::to_string(milli / 1000)) : word(std::to_string(milli) + "m");
}

std::string selector_block(const std::string& selector, const std::string& indent) {
  // As written by selector_text: equalities become matchLabels, the rest cannot be but expressions.
  std::string labels, expressions;
  std::size_t from = 0;
  while (from < selector.size()) {
    std::size_t end = from, depth = 0;
    for (; end < selector.size() && (selector[end] != ',' || depth > 0); ++end)
      depth += selector[end] == '(' ? 1 : selector[end] == ')' ? static_cast<std::size_t>(-1) : 0;
    const std::string part = selector.substr(from, end - from);
    from = end + 1;
    const auto expression = [&](const std::string& key, const char* op, const std::string& values) {
      expressions += indent + "  - {key: " + word(key) + ", operator: " + op +
                     (values.empty() ? "" : ", values: [" + values + "]") + "}\n";
    };
    const std::size_t in = part.find(" in ("), notin = part.find(" notin (");
    const auto values_from = [&](std::size_t at) {
      std::string values, value;
      for (const char c : part.substr(at, part.size() - at - 1) + ",") {
        if (c != ',') {
          value += c;
          continue;
        }
        values += (values.empty() ? "" : ", ") + word(value);
        value.clear();
      }
      return values;
    };
    if (in != std::string::npos)
      expression(part.substr(0, in), "In", values_from(in + 5));
    else if (notin != std::string::npos)
      expression(part.substr(0, notin), "NotIn", values_from(notin + 8));
    else if (part.starts_with('!'))
      expression(part.substr(1), "DoesNotExist", "");
    else if (const std::size_t equals = part.find('='); equals != std::string::npos)
      labels += indent + "    " + word(part.substr(0, equals)) + ": " + word(part.substr(equals + 1)) + "\n";
    else
      expression(part, "Exists", "");
  }
  std::string text;
  if (!labels.empty()) text += indent + "  matchLabels:\n" + labels;
  if (!expressions.empty()) text += indent + "  matchExpressions:\n" + expressions;
  return text.empty() ? "" : indent + "selector:\n" + text;
}

std::string target_line(const MetricTarget& metric) {
  switch (metric.kind) {
    case MetricTarget::Kind::utilisation:
      return "{type: Utilization, averageUtilization: " + std::to_string(std::llround(metric.target * 100)) +
             "}";
    case MetricTarget::Kind::average_value:
      return "{type: AverageValue, averageValue: " + quantity(metric.target) + "}";
    case MetricTarget::Kind::value:
      break;
  }
  return "{type: Value, value: " + quantity(metric.target) + "}";
}

std::string metric_block(const MetricTarget& metric) {
  struct Names {
    const char *type, *key;
  };
  const Names names = metric.source == Source::resource ? Names{"Resource", "resource"}
                      : metric.source == Source::container_resource
                          ? Names{"ContainerResource", "containerResource"}
                      : metric.source == Source::pods   ? Names{"Pods", "pods"}
                      : metric.source == Source::object ? Names{"Object", "object"}
                                                        : Names{"External", "external"};
  std::string text = std::string("  - type: ") + names.type + "\n    " + names.key + ":\n";
  const bool is_resource = metric.source == Source::resource || metric.source == Source::container_resource;
  if (is_resource) {
    text += "      name: " + word(metric.name) + "\n";
    if (!metric.container.empty()) text += "      container: " + word(metric.container) + "\n";
  } else {
    if (metric.source == Source::object) {
      const std::size_t slash = metric.object.find('/');
      text += "      describedObject: {kind: " + word(metric.object.substr(0, slash)) +
              ", name: " + word(metric.object.substr(slash + 1)) + "}\n";
    }
    text += "      metric:\n        name: " + word(metric.name) + "\n" +
            selector_block(metric.selector, "        ");
  }
  return text + "      target: " + target_line(metric) + "\n";
}

std::string rules_block(const char* key, const ScalingRules& rules) {
  std::string text = std::string("    ") + key + ":\n";
  if (rules.stabilisation)
    text += "      stabilizationWindowSeconds: " +
            std::to_string(std::chrono::duration_cast<std::chrono::seconds>(*rules.stabilisation).count()) +
            "\n";
  text += std::string("      selectPolicy: ") +
          (rules.select == ScalingRules::Select::most    ? "Max"
           : rules.select == ScalingRules::Select::least ? "Min"
                                                         : "Disabled") +
          "\n";
  if (rules.tolerance) text += "      tolerance: " + quantity(*rules.tolerance) + "\n";
  text += "      policies:\n";
  for (const ScalingRules::Limit& limit : rules.limits)
    text += std::string("      - {type: ") +
            (limit.kind == ScalingRules::Limit::Kind::pods ? "Pods" : "Percent") +
            ", value: " + std::to_string(limit.value) + ", periodSeconds: " +
            std::to_string(std::chrono::duration_cast<std::chrono::seconds>(limit.period).count()) + "}\n";
  return text;
}

}  // namespace

std::string write_workload_scaler(const ConvertedScaler& converted) {
  const ScalerSpec& spec = converted.scaler.spec;
  std::string text;
  for (const std::string& remark : converted.remarks) text += "# " + remark + "\n";
  text += "apiVersion: evenkeel.io/v1alpha1\nkind: WorkloadScaler\nmetadata:\n  name: " + word(spec.name) +
          "\n  namespace: " + word(spec.name_space) + "\n";
  if (!converted.labels.empty()) text += "  labels:\n";
  for (const auto& [key, value] : converted.labels) text += "    " + word(key) + ": " + word(value) + "\n";
  text += "spec:\n  scaleTargetRef: {apiVersion: " + word(spec.target.api_version) +
          ", kind: " + word(spec.target.kind) + ", name: " + word(spec.target.name) + "}\n";
  text += "  minReplicas: " + std::to_string(spec.min_replicas) +
          "\n  maxReplicas: " + std::to_string(spec.max_replicas) + "\n";
  text += "  mode: Preview  # Auto lets it act: remove the HorizontalPodAutoscaler first\n";
  text += "  policy: " + word(spec.policy) + "\n";
  if (!spec.metrics.empty()) text += "  metrics:\n";
  for (const MetricTarget& metric : spec.metrics) text += metric_block(metric);
  if (spec.behaviour) {
    text += "  behavior:\n";
    text += rules_block("scaleUp", spec.behaviour->up);
    text += rules_block("scaleDown", spec.behaviour->down);
  }
  return text;
}

}  // namespace evenkeel::kubernetes
