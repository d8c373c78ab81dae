#include "scheduling/move_rules.h"

#include <algorithm>
#include <numeric>

#include "cluster/labels.h"

namespace evenkeel::scheduling {
namespace {

std::string said_by_itself(MoveBar bar, const MoveRules& rules) {
  switch (bar) {
    case MoveBar::none:
      return "";
    case MoveBar::asked_not_to:
      return "its annotation evenkeel.io/move says never";
    case MoveBar::not_safe:
      return "its annotation cluster-autoscaler.kubernetes.io/safe-to-evict says false";
    case MoveBar::mirror:
      return "it mirrors a static pod";
    case MoveBar::host_path:
      return "it keeps files on its node (hostPath)";
    case MoveBar::local_storage:
      return rules.local_storage ? "" : "it keeps files on its node (emptyDir)";
  }
  return "";
}

std::string by_owner(const PodTemplate& shape) {
  const auto controller = std::find_if(shape.owners.begin(), shape.owners.end(),
                                       [](const OwnerReference& owner) { return owner.controller; });
  if (controller == shape.owners.end()) return "nobody would make another one: it has no controller";
  if (controller->kind == "DaemonSet") return "it is a DaemonSet's";
  if (controller->kind == "Node") return "it mirrors a static pod";
  return "";
}

// The Eviction API refuses a pod with two budgets, and one whose budget has no room. An empty selector means
// every pod of the namespace there, though not to kube-scheduler.
std::string by_budget(const Pod& pod, const ClusterState& cluster) {
  std::size_t budgets = 0;
  for (const auto& [name, budget] : cluster.objects().budgets()) {
    if (budget.name_space != pod.shape->name_space || !budget.selector) continue;
    if (!budget.selector->requirements.empty() && !matches(*budget.selector, pod.shape->labels)) continue;
    if (budget.disruptions_allowed <= 0)
      return "PodDisruptionBudget " + budget.name + " allows no disruption now";
    if (++budgets > 1) return "several PodDisruptionBudgets select it, which the Eviction API refuses";
  }
  return "";
}

std::size_t replicas_of(const PodTemplate& shape, const ClusterState& cluster) {
  const auto replicas = cluster.replicas(shape.workload);
  return std::accumulate(replicas.begin(), replicas.end(), std::size_t{0},
                         [](std::size_t sum, const auto& each) { return sum + each.count; });
}

}  // namespace

std::string why_not_move(const PodRecord& record, const ClusterState& cluster, const MoveRules& rules) {
  const Pod& pod = record.pod;
  const PodTemplate& shape = *pod.shape;
  if (pod.terminating) return "it is on its way out already";
  if (record.place != PodPlace::bound || !record.started) return "it does not run yet";
  if (std::string why = by_owner(shape); !why.empty()) return why;
  if (std::string why = said_by_itself(pod.bar, rules); !why.empty()) return why;
  const auto& spared = rules.spared_namespaces;
  if (std::find(spared.begin(), spared.end(), shape.name_space) != spared.end())
    return "namespace " + shape.name_space + " is spared";
  if (shape.spec.priority >= rules.spared_priority)
    return "its priority, " + std::to_string(shape.spec.priority) + ", is spared";
  if (!rules.single_replicas && replicas_of(shape, cluster) < 2) return "it is the only one of its workload";
  return by_budget(pod, cluster);
}

}  // namespace evenkeel::scheduling
