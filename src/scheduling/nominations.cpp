#include "scheduling/nominations.h"

#include <algorithm>

namespace evenkeel::scheduling {

void Nominations::set(PodId pod, NodeId node) {
  if (of(pod) == node) return;
  drop(pod);
  by_pod_.emplace(pod, node);
  by_node_[node].push_back({pod, node});
}

std::optional<NodeId> Nominations::drop(PodId pod) {
  const auto at = by_pod_.find(pod);
  if (at == by_pod_.end()) return std::nullopt;
  const NodeId node = at->second;
  by_pod_.erase(at);
  auto& here = by_node_[node];
  std::erase_if(here, [&](const Nomination& nomination) { return nomination.pod == pod; });
  if (here.empty()) by_node_.erase(node);
  return node;
}

std::optional<NodeId> Nominations::of(PodId pod) const {
  const auto at = by_pod_.find(pod);
  return at == by_pod_.end() ? std::nullopt : std::optional(at->second);
}

std::span<const Nomination> Nominations::on(NodeId node) const {
  const auto at = by_node_.find(node);
  return at == by_node_.end() ? std::span<const Nomination>{} : at->second;
}

}  // namespace evenkeel::scheduling
