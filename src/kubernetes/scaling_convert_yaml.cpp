#include <cctype>
#include <nlohmann/json.hpp>
#include <string>

#include "kubernetes/scaling_convert.h"

namespace evenkeel::kubernetes {
namespace {

using Json = nlohmann::ordered_json;

// Quoted where YAML could take it for something else.
std::string word(const std::string& text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-./_";
  bool is_plain = !text.empty() && text.find_first_not_of(kPlain) == std::string::npos &&
                  std::isalpha(static_cast<unsigned char>(text.front())) != 0;
  for (const char* taken : {"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
    is_plain = is_plain && text != taken;
  return is_plain ? text : Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string scalar(const Json& value) {
  return value.is_string() ? word(value.get<std::string>()) : value.dump();
}

bool is_simple(const Json& value) {
  if (value.is_array() && !value.empty()) return false;
  if (!value.is_object()) return true;
  for (const auto& entry : value)
    if (entry.is_structured()) return false;
  return true;
}

// On one line.
std::string flow(const Json& value) {
  if (!value.is_object()) return value.is_array() ? "[]" : scalar(value);
  std::string text;
  for (const auto& [key, entry] : value.items())
    text += (text.empty() ? "" : ", ") + word(key) + ": " + scalar(entry);
  return "{" + text + "}";
}

void write(const Json& value, std::size_t indent, std::string& into) {
  const std::string space(indent, ' ');
  if (value.is_array()) {
    for (const Json& item : value) {
      if (is_simple(item)) {
        into += space + "- " + flow(item) + "\n";
        continue;
      }
      std::string block;
      write(item, indent + 2, block);
      into += space + "- " + block.substr(indent + 2);
    }
    return;
  }
  for (const auto& [key, entry] : value.items()) {
    if (is_simple(entry)) {
      into += space + word(key) + ": " + flow(entry) + "\n";
    } else {
      into += space + word(key) + ":\n";
      write(entry, entry.is_array() ? indent : indent + 2, into);
    }
  }
}

}  // namespace

std::string write_workload_scaler(const ConvertedScaler& converted) {
  const ScalerSpec& spec = converted.scaler.spec;
  std::string text;
  for (const std::string& remark : converted.remarks) text += "# " + remark + "\n";
  text +=
      "# Preview decides and scales nothing. Before you make it Auto, remove the HorizontalPodAutoscaler.\n";
  Json object = {
      {"apiVersion", "evenkeel.io/v1alpha1"},
      {"kind", "WorkloadScaler"},
      {"metadata", {{"name", spec.name}}},
      {"spec",
       {{"scaleTargetRef",
         {{"apiVersion", spec.target.api_version}, {"kind", spec.target.kind}, {"name", spec.target.name}}},
        {"minReplicas", spec.min_replicas},
        {"maxReplicas", spec.max_replicas},
        {"mode", "Preview"},
        {"policy", spec.policy}}}};
  if (converted.has_namespace) object["metadata"]["namespace"] = spec.name_space;
  for (const auto& [key, value] : converted.labels) object["metadata"]["labels"][key] = value;
  if (!converted.metrics.empty()) object["spec"]["metrics"] = Json::parse(converted.metrics, nullptr, false);
  if (!converted.behavior.empty())
    object["spec"]["behavior"] = Json::parse(converted.behavior, nullptr, false);
  write(object, 0, text);
  return text;
}

}  // namespace evenkeel::kubernetes
