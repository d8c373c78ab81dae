#include "kubernetes/scaling_pods.h"

#include <algorithm>
#include <utility>

#include "kubernetes/read_common.h"
#include "kubernetes/scale_writer.h"

namespace evenkeel::kubernetes {
namespace {

using Phase = ReplicaReport::Phase;

std::string pair_of(const Label& label) { return label.key + "=" + label.value; }

ScaledPod::Container read_container(const JsonField& container) {
  ScaledPod::Container made;
  made.name = container.text_at("name");
  const JsonField requests = container.at("resources").at("requests");
  if (const JsonField cpu = requests.at("cpu")) made.cpu = static_cast<double>(cpu.quantity_milli()) * 1e-3;
  if (const JsonField memory = requests.at("memory")) made.memory = static_cast<double>(memory.quantity());
  return made;
}

}  // namespace

double ScaledPod::request_of(const MetricTarget& metric) const {
  const bool is_resource = metric.source == MetricTarget::Source::resource ||
                           metric.source == MetricTarget::Source::container_resource;
  if (!is_resource || (metric.name != "cpu" && metric.name != "memory")) return 0;
  double sum = 0;
  for (const Container& container : containers) {
    if (!metric.container.empty() && metric.container != container.name) continue;
    const double asked = metric.name == "cpu" ? container.cpu : container.memory;
    if (asked <= 0) return 0;
    sum += asked;
  }
  return sum;
}

Result<ScaledPod> read_scaled_pod(std::string_view json) {
  const auto document = JsonDocument::parse(json, "Pod");
  if (!document) return document.error();
  JsonReading reading("Pod");
  const JsonField root(reading, document->root());
  const Metadata metadata = read_metadata(root);
  reading.set_subject("Pod " + metadata.name_space + "/" + metadata.name);
  ScaledPod pod;
  pod.uid = metadata.uid;
  pod.labels = metadata.labels;
  pod.replica.name = metadata.name;
  pod.replica.leaves = metadata.terminating;
  pod.deletion_cost = read_annotation(root, kDeletionCost).value_or("");
  const JsonField spec = root.at("spec"), status = root.at("status");
  for (const JsonField& container : spec.at("containers").items())
    pod.containers.push_back(read_container(container));
  for (const JsonField& container : spec.at("initContainers").items())
    if (container.text_at("restartPolicy") == "Always") pod.containers.push_back(read_container(container));
  const std::string phase = status.text_at("phase");
  pod.replica.phase = phase == "Failed"      ? Phase::failed
                      : phase == "Succeeded" ? Phase::succeeded
                      : phase == "Running"   ? Phase::running
                                             : Phase::pending;
  pod.replica.started = status.at("startTime").time();
  for (const JsonField& condition : status.at("conditions").items())
    if (condition.text_at("type") == "Ready") {
      pod.replica.ready = condition.text_at("status") == "True";
      pod.replica.ready_changed = condition.at("lastTransitionTime").time();
    }
  if (reading.error()) return *reading.error();
  return pod;
}

void ScalingPods::unlink(NameSpace& space, const ScaledPod& pod) {
  for (const Label& label : pod.labels.all()) {
    const auto at = space.by_label.find(pair_of(label));
    if (at == space.by_label.end()) continue;
    std::erase(at->second, &pod);
    if (at->second.empty()) space.by_label.erase(at);
  }
}

Status ScalingPods::apply(const ObjectChange& change) {
  const ObjectIdentity& identity = change.object.identity;
  NameSpace& space = spaces_[identity.name_space];
  const auto at = space.by_name.find(identity.name);
  const auto forget = [&] {
    if (at == space.by_name.end()) return;
    unlink(space, *at->second);
    space.by_name.erase(at);
    --count_;
    if (space.by_name.empty()) spaces_.erase(identity.name_space);
  };
  if (change.type == ObjectChange::Type::deleted) {
    forget();
    return {};
  }
  Result<ScaledPod> read = read_scaled_pod(change.object.json);
  if (!read) {
    forget();
    return read.error();
  }
  if (at != space.by_name.end() && at->second->labels == read->labels) {
    *at->second = *std::move(read);
    return {};
  }
  if (at != space.by_name.end()) {
    unlink(space, *at->second);
    *at->second = *std::move(read);
  } else {
    ++count_;
    space.by_name.emplace(identity.name, std::make_unique<ScaledPod>(*std::move(read)));
  }
  const ScaledPod& pod = *space.by_name.at(identity.name);
  for (const Label& label : pod.labels.all()) space.by_label[pair_of(label)].push_back(&pod);
  return {};
}

std::vector<const ScaledPod*> ScalingPods::select(const std::string& name_space,
                                                  const LabelSelector& selector) const {
  Pods found;
  const auto space = spaces_.find(name_space);
  if (space == spaces_.end()) return found;
  // The rarest of the labels that must be there says where to look.
  const Pods* among = nullptr;
  for (const SelectorRequirement& requirement : selector.requirements) {
    if (requirement.op != SelectorOperator::in || requirement.values.size() != 1) continue;
    const auto at = space->second.by_label.find(pair_of({requirement.key, requirement.values.front()}));
    if (at == space->second.by_label.end()) return found;
    if (!among || at->second.size() < among->size()) among = &at->second;
  }
  if (among) {
    for (const ScaledPod* pod : *among)
      if (matches(selector, pod->labels)) found.push_back(pod);
  } else {
    for (const auto& [name, pod] : space->second.by_name)
      if (matches(selector, pod->labels)) found.push_back(pod.get());
  }
  std::sort(found.begin(), found.end(),
            [](const ScaledPod* a, const ScaledPod* b) { return a->replica.name < b->replica.name; });
  return found;
}

}  // namespace evenkeel::kubernetes
