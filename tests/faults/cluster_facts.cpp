#include "cluster_facts.h"

#include <algorithm>
#include <set>

#include "api_request_parts.h"
#include "base/kube_quantity.h"

namespace evenkeel::faults {
namespace {

std::int64_t amount(const json& map, const char* name) {
  const json& found = part(map, {name});
  if (!found.is_string()) return 0;
  const std::string text = found.get<std::string>();
  return parse_quantity_milli(text).value_or(0);
}

std::int64_t requested(const Stored& pod, const char* name) {
  std::int64_t sum = 0;
  for (const json& container : part(pod.object, {"spec", "containers"}))
    sum += amount(part(container, {"resources", "requests"}), name);
  return sum;
}

std::set<std::int64_t> host_ports(const Stored& pod) {
  std::set<std::int64_t> ports;
  for (const json& container : part(pod.object, {"spec", "containers"}))
    for (const json& port : part(container, {"ports"}))
      if (port.contains("hostPort")) ports.insert(port["hostPort"].get<std::int64_t>());
  return ports;
}

bool is_tolerated(const Stored& pod, const std::string& key) {
  const json& tolerations = part(pod.object, {"spec", "tolerations"});
  return std::ranges::any_of(tolerations,
                             [&](const json& toleration) { return toleration.value("key", "") == key; });
}

bool repels(const Stored& pod, const Stored& node, const Stored& other, const Stored& its_node) {
  for (const json& term : part(pod.object, {"spec", "affinity", "podAntiAffinity",
                                            "requiredDuringSchedulingIgnoredDuringExecution"})) {
    const std::string key = term.value("topologyKey", "");
    const std::string here = text_at(node.object, {"metadata", "labels", key.c_str()});
    const std::string there = text_at(its_node.object, {"metadata", "labels", key.c_str()});
    if (!here.empty() && here == there &&
        selects(part(term, {"labelSelector"}), part(other.object, {"metadata", "labels"})))
      return true;
  }
  return false;
}

}  // namespace

bool is_ending(const Stored& pod) { return part(pod.object, {"metadata"}).contains("deletionTimestamp"); }

bool has_ended(const Stored& pod) {
  const std::string phase = text_at(pod.object, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

bool is_gated(const Stored& pod) { return !part(pod.object, {"spec", "schedulingGates"}).empty(); }

std::int64_t priority_of(const Stored& pod) {
  const json& priority = part(pod.object, {"spec", "priority"});
  return priority.is_number() ? priority.get<std::int64_t>() : 0;
}

std::string node_of(const Stored& pod) { return text_at(pod.object, {"spec", "nodeName"}); }

std::vector<StoredPtr> pods_on(const std::map<std::string, StoredPtr>& pods, const std::string& node) {
  std::vector<StoredPtr> found;
  for (const auto& [key, pod] : pods)
    if (!has_ended(*pod) && node_of(*pod) == node) found.push_back(pod);
  return found;
}

std::string misfit(const Stored& pod, const Stored& node, const std::vector<StoredPtr>& others) {
  for (const char* resource : {"cpu", "memory"}) {
    const std::int64_t asked = requested(pod, resource);
    std::int64_t sum = asked;
    for (const StoredPtr& other : others) sum += requested(*other, resource);
    const std::int64_t room = amount(part(node.object, {"status", "allocatable"}), resource);
    if (asked > 0 && sum > room)
      return std::string(resource) + ": " + std::to_string(sum) + " of " + std::to_string(room);
  }
  if (1000 * (static_cast<std::int64_t>(others.size()) + 1) >
      amount(part(node.object, {"status", "allocatable"}), "pods"))
    return "too many pods: " + std::to_string(others.size() + 1);
  for (const std::int64_t port : host_ports(pod))
    for (const StoredPtr& other : others)
      if (host_ports(*other).contains(port)) return "host port " + std::to_string(port) + " of " + other->key;
  const json& spec = part(node.object, {"spec"});
  if (spec.value("unschedulable", false)) return "cordoned";
  for (const json& taint : part(spec, {"taints"}))
    if (taint.value("effect", "") != "PreferNoSchedule" && !is_tolerated(pod, taint.value("key", "")))
      return "tainted: " + taint.value("key", "");
  return "";
}

std::string why_it_must_stay(const Stored& pod) {
  const json& object = pod.object;
  if (is_ending(pod)) return "it ends already";
  if (text_at(object, {"status", "phase"}) != "Running") return "it does not run";
  bool has_controller = false;
  for (const json& owner : part(object, {"metadata", "ownerReferences"}))
    has_controller = has_controller || owner.value("controller", false);
  if (!has_controller) return "nobody would make another one";
  const json& notes = part(object, {"metadata", "annotations"});
  if (notes.is_object() && notes.value("evenkeel.io/move", "") == "never") return "it asked not to be moved";
  if (notes.is_object() && notes.value("cluster-autoscaler.kubernetes.io/safe-to-evict", "") == "false")
    return "it is not safe to evict";
  for (const json& volume : part(object, {"spec", "volumes"}))
    if (volume.contains("emptyDir") || volume.contains("hostPath")) return "it keeps files on its node";
  return "";
}

bool is_repelled(const Stored& pod, const Stored& node, const Stored& other, const Stored& its_node) {
  return repels(pod, node, other, its_node) || repels(other, its_node, pod, node);
}

}  // namespace evenkeel::faults
