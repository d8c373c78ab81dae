#include "kubernetes/metrics_api.h"

#include "base/kube_quantity.h"
#include "base/numbers.h"
#include "base/unit_text.h"
#include "kubernetes/json_field.h"

namespace evenkeel::kubernetes {
namespace {

// metrics-server writes CPU in billionths of a core, which thousandths would round up.
double cores_of(const JsonField& field) {
  const std::string text = field.text();
  if (text.ends_with('n'))
    if (const auto billionths = parse_integer(std::string_view(text).substr(0, text.size() - 1)))
      return static_cast<double>(*billionths) * 1e-9;
  const auto thousandths = parse_quantity_milli(text);
  if (!thousandths) field.fail(thousandths.error().message);
  return thousandths ? static_cast<double>(*thousandths) * 1e-3 : 0;
}

void add_usage(const JsonField& usage, Usage& to) {
  to[Dimension::cpu] += cores_of(usage.at("cpu"));
  to[Dimension::memory] += static_cast<double>(usage.at("memory").quantity());
}

Time stamp_of(const JsonField& item) {
  const auto stamp = item.at("timestamp").time();
  if (!stamp) item.fail_at("timestamp", "expected the time of the sample");
  return stamp.value_or(Time{});
}

Duration window_of(const JsonField& item) {
  const auto window = parse_duration(item.text_at("window", "0s"));
  return window ? *window : Duration::zero();
}

NodeReport read_node(const JsonField& item) {
  NodeReport report;
  report.node = item.at("metadata").required_text_at("name");
  report.measured = stamp_of(item);
  report.over = window_of(item);
  report.known = report.pods_known = NodeReport::kCpuAndMemory;
  add_usage(item.at("usage"), report.total);
  return report;
}

PodUsageItem read_pod(const JsonField& item) {
  PodUsageItem pod;
  pod.part.name_space = item.at("metadata").required_text_at("namespace");
  pod.part.name = item.at("metadata").required_text_at("name");
  pod.stamp = stamp_of(item);
  pod.window = window_of(item);
  for (const JsonField& container : item.at("containers").items()) {
    pod.containers.push_back({container.text_at("name")});
    add_usage(container.at("usage"), pod.containers.back().usage);
    pod.part.usage += pod.containers.back().usage;
  }
  return pod;
}

template <class Item, class Read>
Result<MetricsList<Item>> read_list(std::string_view json, const std::string& name, Read read) {
  const auto document = JsonDocument::parse(json, name);
  if (!document) return document.error();
  JsonReading whole(name);
  MetricsList<Item> list;
  for (const JsonField& item : JsonField(whole, document->root()).at("items").items()) {
    JsonReading reading(name);
    Item made = read(JsonField(reading, item.value()));
    if (reading.error()) {
      ++list.unreadable;
    } else {
      list.items.push_back(std::move(made));
    }
  }
  if (whole.error()) return *whole.error();
  return list;
}

}  // namespace

Result<MetricsList<NodeReport>> read_node_metrics_list(std::string_view json) {
  return read_list<NodeReport>(json, "NodeMetricsList", read_node);
}

Result<MetricsList<PodUsageItem>> read_pod_metrics_list(std::string_view json) {
  return read_list<PodUsageItem>(json, "PodMetricsList", read_pod);
}

}  // namespace evenkeel::kubernetes
