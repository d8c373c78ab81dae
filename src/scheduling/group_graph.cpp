#include "scheduling/group_graph.h"

#include <algorithm>

namespace evenkeel::scheduling {

std::uint32_t GroupGraph::number(const std::string& selector) {
  const auto [at, is_new] = numbers_.try_emplace(selector, static_cast<std::uint32_t>(out_.size()));
  if (is_new) {
    out_.emplace_back();
    in_.emplace_back();
  }
  return at->second;
}

GroupGraph::GroupGraph(const AppGroup& group) {
  std::unordered_map<std::uint64_t, std::uint32_t> known;  // edges, by both ends
  for (const AppWorkload& workload : group.workloads) {
    if (workload.workload.selector.empty()) continue;  // no pod says that it plays no part
    const std::uint32_t from = number(workload.workload.selector);
    for (const AppDependency& dependency : workload.dependencies) {
      if (dependency.workload.selector.empty()) continue;
      const std::uint32_t to = number(dependency.workload.selector);
      const auto [at, is_new] =
          known.try_emplace(std::uint64_t{from} << 32U | to, static_cast<std::uint32_t>(edges_.size()));
      if (is_new) {
        out_[from].push_back(at->second);
        in_[to].push_back(at->second);
        edges_.push_back({from, to});
      }
      Edge& edge = edges_[at->second];
      edge.bandwidth = std::clamp(dependency.min_bandwidth.count, edge.bandwidth, kMostBits);
      if (dependency.limits_cost) edge.max_cost = std::min(edge.max_cost, dependency.max_network_cost);
      reserves_ = reserves_ || edge.bandwidth > 0;
    }
  }
}

std::optional<std::uint32_t> GroupGraph::workload(std::string_view selector) const {
  const auto at = numbers_.find(selector);
  return at == numbers_.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace evenkeel::scheduling
