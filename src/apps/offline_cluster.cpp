#include "apps/offline_cluster.h"

namespace evenkeel::apps {
namespace {

using kubernetes::ApiObject;
using kubernetes::NodeUsageObject;
using kubernetes::PodObject;

bool has_ended(const PodObject& pod) {
  return pod.phase == PodPhase::succeeded || pod.phase == PodPhase::failed;
}

std::string full_name(const PodObject& pod) { return pod.name_space + "/" + pod.name; }

}  // namespace

Result<OfflineCluster> OfflineCluster::build(std::vector<ApiObject> objects, const std::string& file) {
  OfflineCluster cluster;
  const auto at_file = [&](const Error& error) { return Error{error.kind, file + ": " + error.message}; };
  for (const ApiObject& object : objects)
    if (const auto* other = std::get_if<ClusterObject>(&object)) cluster.state_.set_object(*other);
  if (const Status added = cluster.add_nodes(objects); !added) return at_file(added.error());
  if (const Status added = cluster.add_pods(objects); !added) return at_file(added.error());
  cluster.add_usage(objects);
  return cluster;
}

Status OfflineCluster::add_nodes(const std::vector<ApiObject>& objects) {
  for (const ApiObject& object : objects) {
    const auto* described = std::get_if<Node>(&object);
    if (!described) continue;
    Node node = *described;
    node.id = {static_cast<std::uint32_t>(nodes_.size())};
    if (!nodes_.emplace(node.name, node.id).second) return invalid("Node " + node.name + ": is given twice");
    state_.set_node(node);
  }
  return {};
}

// What the API server's admission does to a pod that names a class, or none.
Status OfflineCluster::resolve_priority(PodObject& pod) const {
  if (pod.priority_given) return {};
  const auto& classes = state_.objects().priority_classes();
  if (pod.priority_class == "system-cluster-critical" || pod.priority_class == "system-node-critical") {
    pod.spec.priority = pod.priority_class == "system-cluster-critical" ? 2'000'000'000 : 2'000'001'000;
    return {};
  }
  const PriorityClass* chosen = nullptr;
  if (!pod.priority_class.empty()) {
    const auto at = classes.find(pod.priority_class);
    if (at == classes.end())
      return invalid("Pod " + full_name(pod) + ": spec.priorityClassName: no PriorityClass is called '" +
                     pod.priority_class + "'");
    chosen = &at->second;
  } else {
    // Of several defaults the lowest counts.
    for (const auto& [name, candidate] : classes)
      if (candidate.global_default && (!chosen || candidate.value < chosen->value)) chosen = &candidate;
  }
  if (!chosen) return {};
  pod.spec.priority = chosen->value;
  if (chosen->preemption == PreemptionPolicy::never) pod.spec.preemption = PreemptionPolicy::never;
  return {};
}

// Pods of one controller behave alike; one that has none is its own workload.
WorkloadId OfflineCluster::workload_of(const PodObject& pod) {
  std::string key = "pod " + full_name(pod);
  for (const OwnerReference& owner : pod.owners)
    if (owner.controller) key = pod.name_space + " " + owner.kind + " " + owner.name;
  return workloads_.try_emplace(std::move(key), WorkloadId{static_cast<std::uint32_t>(workloads_.size())})
      .first->second;
}

Status OfflineCluster::add_pods(std::vector<ApiObject>& objects) {
  std::uint32_t slot = 0;
  for (ApiObject& object : objects) {
    auto* described = std::get_if<PodObject>(&object);
    if (!described || has_ended(*described)) continue;
    if (const Status resolved = resolve_priority(*described); !resolved) return resolved;
    Pod pod;
    pod.id = {slot++, 1};
    pod.name = described->name;
    pod.uid = described->uid;
    pod.created = described->created;
    pod.phase = described->phase;
    pod.nominated_node = described->nominated_node;
    pod.terminating = described->terminating;
    pod.started = described->started;
    pod.disrupted_by_us = described->disrupted_by_us;
    pod.bar = described->bar;
    const std::string name = full_name(*described);
    if (!pods_.emplace(name, pod.id).second) return invalid("Pod " + name + ": is given twice");
    const std::string node = described->spec.node_name;
    now_ = std::max({now_, described->created, described->started.value_or(Time{})});
    pod.shape = std::make_shared<const PodTemplate>(described->name_space, std::move(described->labels),
                                                    std::move(described->owners), workload_of(*described),
                                                    std::move(described->spec));
    history_.observe_pod(pod);
    if (node.empty()) {
      waiting_.push_back(pod.id);
      if (const auto promised = nodes_.find(pod.nominated_node); promised != nodes_.end())
        nominations_.push_back({pod.id, promised->second});
      state_.add_pending(std::move(pod));
    } else if (const auto at = nodes_.find(node); at != nodes_.end()) {
      bound_.push_back(pod.id);
      const Demand demand = history_.demand(pod);
      state_.found(std::move(pod), at->second, demand, now_);
    }  // a pod on a node that is gone takes nobody's room
  }
  return {};
}

// What a node uses beyond what its pods are expected to is its own.
void OfflineCluster::add_usage(const std::vector<ApiObject>& objects) {
  for (const ApiObject& object : objects)
    if (const auto* usage = std::get_if<NodeUsageObject>(&object)) now_ = std::max(now_, usage->measured);
  for (const ApiObject& object : objects) {
    const auto* usage = std::get_if<NodeUsageObject>(&object);
    if (!usage) continue;
    const auto at = nodes_.find(usage->node);
    if (at == nodes_.end()) continue;
    Usage base;
    base[Dimension::cpu] = static_cast<double>(usage->cpu.count) / 1000;
    base[Dimension::memory] = static_cast<double>(usage->memory.count);
    for (const PodId pod : state_.pods_on(at->second)) base -= state_.pod(pod)->expected.mean;
    for (double& amount : base.of) amount = std::max(0.0, amount);
    state_.set_base_load(at->second, base, usage->measured);
  }
}

const PodId* OfflineCluster::find(std::string_view name) const {
  const auto at = pods_.find(name);
  return at == pods_.end() ? nullptr : &at->second;
}

void OfflineCluster::place(PodId pod, NodeId node) {
  std::erase_if(nominations_, [&](const scheduling::Nomination& n) { return n.pod == pod; });
  state_.assume(pod, node, history_.demand(this->pod(pod)), now_);
}

std::string OfflineCluster::take_off(PodId pod) {
  const PodRecord record = *state_.pod(pod);
  if (record.place == PodPlace::pending) return "";
  state_.remove_pod(pod);
  Pod waiting = record.pod;
  // Its own node is no longer something it asks for.
  PodSpec spec = waiting.spec();
  spec.node_name.clear();
  waiting.shape =
      std::make_shared<const PodTemplate>(waiting.shape->name_space, waiting.shape->labels,
                                          waiting.shape->owners, waiting.shape->workload, std::move(spec));
  state_.add_pending(std::move(waiting));
  return state_.node(record.node).name;
}

}  // namespace evenkeel::apps
