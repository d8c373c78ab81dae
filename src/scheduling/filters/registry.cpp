#include <algorithm>
#include <array>
#include <map>

#include "scheduling/filters/filter.h"

namespace evenkeel::scheduling {

// To add a filter: write its file, add its line.
std::span<const Filter> all_filters() {
  static const std::array kFilters = {kNodeUnschedulable, kNodeName,    kTaintToleration, kNodeAffinity,
                                      kNodePorts,         kResourceFit, kUseFit};
  return kFilters;
}

std::vector<Objection> objections(const FilterInput& input, NodeId node) {
  for (const Filter& filter : all_filters()) {
    if (!filter.matters(input)) continue;
    std::vector<Objection> found;
    for (std::string& reason : filter.objections(input, node))
      found.push_back({filter.plugin, std::move(reason)});
    if (!found.empty()) return found;
  }
  return {};
}

std::string unschedulable_message(const FilterInput& input) {
  std::map<std::string, int> counts;
  const std::size_t slots = input.cluster.columns().size();
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    if (!input.cluster.has_node({slot})) continue;
    for (Objection& objection : objections(input, {slot})) ++counts[std::move(objection.reason)];
  }
  // kube-scheduler sorts the finished phrases, count and all.
  std::vector<std::string> phrases;
  for (const auto& [reason, nodes] : counts) phrases.push_back(std::to_string(nodes) + " " + reason);
  std::sort(phrases.begin(), phrases.end());
  std::string message = "0/" + std::to_string(input.cluster.node_count()) + " nodes are available";
  for (std::size_t i = 0; i < phrases.size(); ++i) message += (i == 0 ? ": " : ", ") + phrases[i];
  return message + ".";
}

std::string_view unsupported_feature(const PodSpec& spec) {
  if (!spec.pod_affinity.required.empty()) return "required pod affinity";
  if (!spec.pod_anti_affinity.required.empty()) return "required pod anti-affinity";
  for (const TopologySpreadConstraint& constraint : spec.spread)
    if (constraint.do_not_schedule) return "topologySpreadConstraints with DoNotSchedule";
  for (const PodVolume& volume : spec.volumes)
    if (volume.kind == VolumeKind::claim || volume.kind == VolumeKind::ephemeral)
      return "persistent volume claims";
  if (!spec.resource_claims.empty()) return "dynamic resource claims";
  return {};
}

}  // namespace evenkeel::scheduling
