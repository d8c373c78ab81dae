#include "controllers/group_status.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "controllers/listing.h"
#include "controllers/topology_order.h"

namespace evenkeel::controllers {
namespace {

using Names = std::vector<std::string>;

NetworkCondition sorted_condition(const AppGroup& group, const TopologyOrder& order) {
  if (!order.cycle.empty()) {
    std::string way;
    for (const std::string& selector : order.cycle) way += selector + " -> ";
    if (order.cycle.size() > kMostNamed) way = listed(order.cycle, " -> ") + " -> ";
    return {"TopologySorted", false, "Cyclic",
            "the dependencies go round in a circle (" + way + order.cycle.front() +
                "): placed in the order of the spec"};
  }
  if (!order.is_known_algorithm)
    return {"TopologySorted", true, "UnknownAlgorithm",
            "topologySortingAlgorithm '" + group.sorting_algorithm.substr(0, 63) +
                "' is not known, KahnSort is used; there are KahnSort, TarjanSort, ReverseKahn, "
                "ReverseTarjan, AlternateKahn and AlternateTarjan"};
  return {"TopologySorted", true, order.algorithm,
          std::to_string(order.workloads.size()) + " workloads sorted by " + order.algorithm};
}

NetworkCondition found_condition(const AppGroup& group, PodSpan pods, std::int32_t running) {
  std::set<std::string> carried, strangers;
  std::set<std::string> declared;
  for (const AppWorkload& one : group.workloads) declared.insert(one.workload.selector);
  for (const NetworkPod* pod : pods) {
    if (declared.contains(pod->workload))
      carried.insert(pod->workload);
    else
      strangers.insert(pod->name);
  }
  Names without;
  for (const std::string& selector : declared)
    if (!carried.contains(selector)) without.push_back(selector);
  const std::string label(kAppWorkloadLabel);
  std::string message;
  if (!strangers.empty())
    message = "the label " + label + " of " + listed({strangers.begin(), strangers.end()}) +
              " names no workload of the group";
  if (!without.empty())
    message += (message.empty() ? "" : "; ") + ("no pod has the label " + label + ": " + listed(without));
  if (!strangers.empty()) return {"WorkloadsFound", false, "UnknownWorkload", message};
  if (!without.empty()) return {"WorkloadsFound", false, "PodsMissing", message};
  return {"WorkloadsFound", true, "AllFound",
          std::to_string(running) + " pods run; " + std::to_string(group.members) + " members are declared"};
}

NetworkCondition valid_condition(const AppGroup& group) {
  std::set<std::string> declared, twice, nowhere, differing;
  for (const AppWorkload& one : group.workloads)
    if (!declared.insert(one.workload.selector).second) twice.insert(one.workload.selector);
  for (const AppWorkload& one : group.workloads) {
    std::map<std::string, const AppDependency*> seen;
    for (const AppDependency& dependency : one.dependencies) {
      const std::string& to = dependency.workload.selector;
      if (!declared.contains(to)) nowhere.insert(to);
      const auto [at, is_new] = seen.try_emplace(to, &dependency);
      const bool differs = !is_new && (at->second->min_bandwidth != dependency.min_bandwidth ||
                                       at->second->max_network_cost != dependency.max_network_cost);
      if (differs) differing.insert(one.workload.selector + " -> " + to);
    }
  }
  std::string message;
  const auto tell = [&](const std::set<std::string>& names, const std::string& what) {
    if (!names.empty())
      message += (message.empty() ? "" : "; ") + listed({names.begin(), names.end()}) + what;
  };
  tell(twice, ": listed more than once, as if it were one workload");
  tell(differing, ": declared more than once, with different demands, which add up");
  const bool contradicts = !message.empty();
  tell(nowhere, ": depended on, but no workload of the group");
  if (message.empty()) return {"Valid", true, "Valid", ""};
  return {"Valid", false, contradicts ? "Contradictory" : "UnknownDependency", message};
}

}  // namespace

AppGroupStatus status_of(const AppGroup& group, PodSpan pods) {
  AppGroupStatus status;
  for (const NetworkPod* pod : pods) {
    status.running += pod->phase == PodPhase::running ? 1 : 0;
    if (!status.first_pod || pod->created < *status.first_pod) status.first_pod = pod->created;
  }
  const TopologyOrder order = sort_topology(group);
  for (const WorkloadReference& workload : order.workloads)
    status.order.push_back({workload, static_cast<std::int32_t>(status.order.size() + 1)});
  std::ranges::sort(status.order, {},
                    [](const AppGroupStatus::Rank& rank) { return rank.workload.selector; });
  status.conditions = {sorted_condition(group, order), found_condition(group, pods, status.running),
                       valid_condition(group)};
  return status;
}

}  // namespace evenkeel::controllers
