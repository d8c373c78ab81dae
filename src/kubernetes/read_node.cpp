#include "kubernetes/read_node.h"

#include <algorithm>

#include "kubernetes/read_common.h"

namespace evenkeel::kubernetes {
namespace {

constexpr std::pair<std::string_view, TaintEffect> kEffects[] = {
    {"NoSchedule", TaintEffect::no_schedule},
    {"PreferNoSchedule", TaintEffect::prefer_no_schedule},
    {"NoExecute", TaintEffect::no_execute}};

NodeConditions read_conditions(const JsonField& list) {
  NodeConditions conditions;
  for (const JsonField& item : list.items()) {
    const std::string type = item.text_at("type");
    ConditionStatus* condition = type == "Ready"                ? &conditions.ready
                                 : type == "MemoryPressure"     ? &conditions.memory_pressure
                                 : type == "DiskPressure"       ? &conditions.disk_pressure
                                 : type == "PIDPressure"        ? &conditions.pid_pressure
                                 : type == "NetworkUnavailable" ? &conditions.network_unavailable
                                                                : nullptr;
    if (!condition) continue;
    *condition = item.choice_at("status",
                                {std::pair<std::string_view, ConditionStatus>{"True", ConditionStatus::yes},
                                 {"False", ConditionStatus::no},
                                 {"Unknown", ConditionStatus::unknown}},
                                ConditionStatus::unknown);
  }
  return conditions;
}

}  // namespace

Node read_node(const JsonField& object) {
  const Metadata metadata = read_metadata(object);
  Node node;
  node.name = metadata.name;
  node.labels = metadata.labels;
  const JsonField spec = object.at("spec"), status = object.at("status");
  node.unschedulable = spec.flag_at("unschedulable");
  for (const JsonField& taint : few_items(spec.at("taints"))) {
    if (!taint.has("effect")) taint.fail_at("effect", "expected NoSchedule, PreferNoSchedule or NoExecute");
    node.taints.push_back(
        {taint.required_text_at("key"), taint.text_at("value"),
         taint.choice_at("effect", std::span<const std::pair<std::string_view, TaintEffect>>(kEffects),
                         TaintEffect::no_schedule)});
  }
  const JsonField allocatable = status.at(status.has("allocatable") ? "allocatable" : "capacity");
  node.allocatable = read_resources(allocatable);
  node.max_pods = allocatable.at("pods").quantity();
  // What the machine can do; network and disk rates are nobody's to report here.
  node.capacity[Dimension::cpu] = static_cast<double>(node.allocatable.cpu.count) / 1000;
  node.capacity[Dimension::memory] = static_cast<double>(node.allocatable.memory.count);
  node.conditions = read_conditions(status.at("conditions"));
  for (const JsonField& image : status.at("images").items()) {
    const std::int64_t bytes = image.at("sizeBytes").integer(0, std::numeric_limits<std::int64_t>::max());
    const Bytes size{std::min(bytes, kMostOfAResource)};
    for (const std::string& name : image.texts_at("names")) node.images.push_back({name, size});
  }
  node.declared_features = status.texts_at("declaredFeatures");
  for (const JsonField& address : few_items(status.at("addresses")))
    if (std::string text = address.text_at("address"); !text.empty() && text != node.name)
      node.addresses.push_back(std::move(text));
  return node;
}

NodeUsageObject read_node_metrics(const JsonField& object) {
  const Metadata metadata = read_metadata(object);
  NodeUsageObject usage;
  usage.node = metadata.name;
  usage.measured = object.at("timestamp").time().value_or(Time{});
  usage.cpu = MilliCpu{object.at("usage").at("cpu").quantity_milli()};
  usage.memory = Bytes{object.at("usage").at("memory").quantity()};
  return usage;
}

}  // namespace evenkeel::kubernetes
