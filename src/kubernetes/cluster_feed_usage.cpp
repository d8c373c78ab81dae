// What nodes use: names become handles, and nothing that cannot be gets through.
#include <algorithm>
#include <cmath>

#include "kubernetes/cluster_feed.h"

namespace evenkeel::kubernetes {
namespace {

constexpr double kBeyondBelief = 4;  // times the CPU or memory that a node has
constexpr double kCapacityChange = 0.01;
constexpr std::size_t kFirstRate = 2;  // of the dimensions: CPU and memory are what the Node says

bool is_amount(double amount) { return std::isfinite(amount) && amount >= 0; }

}  // namespace

void ClusterFeed::name_node(const Node& node, bool known) {
  for (const std::string& address : node.addresses) {
    if (known) {
      node_addresses_[address] = node.id.slot;
    } else if (const auto at = node_addresses_.find(address);
               at != node_addresses_.end() && at->second == node.id.slot) {
      node_addresses_.erase(at);
    }
  }
}

std::optional<NodeId> ClusterFeed::node_called(const std::string& name) const {
  if (const auto node = node_named(name)) return node;
  const auto at = node_addresses_.find(name);
  return at == node_addresses_.end() ? std::nullopt : std::optional(NodeId{at->second});
}

std::optional<PodId> ClusterFeed::pod_with_uid(const std::string& uid) const {
  const auto at = pod_uids_.find(uid);
  if (at == pod_uids_.end() || pods_[at->second].told == Told::nothing) return std::nullopt;
  return pods_[at->second].pod.id;
}

// Rates have no other source; a node whose rates are not known has no share of them.
void ClusterFeed::learn_capacity(Node& node, const Usage& capacity) {
  bool changed = false;
  for (std::size_t d = kFirstRate; d < kDimensions; ++d) {
    const double told = capacity.of[d];
    double& known = node.capacity.of[d];
    if (!std::isfinite(told) || told <= 0 || std::abs(told - known) <= kCapacityChange * known) continue;
    known = told;
    changed = true;
  }
  if (changed) events_.push_back(NodeUpdated{node});
}

std::optional<PodUsage> ClusterFeed::part_of(const NodeReport& report, const NodeReport::PodPart& part,
                                             const std::string& node) {
  const auto id = part.uid.empty() ? pod_named(part.name_space, part.name) : pod_with_uid(part.uid);
  const KnownPod* known = id ? pod(*id) : nullptr;
  if (!known || known->node != node) {
    ++report_counts_.unknown_pods;
    return std::nullopt;
  }
  PodUsage sample{*id, part.usage};
  for (std::size_t d = 0; d < kDimensions; ++d) {
    if (report.pods_known[d] && !is_amount(sample.usage.of[d])) {
      ++report_counts_.impossible;
      return std::nullopt;
    }
    if (!report.pods_known[d]) sample.usage.of[d] = 0;
  }
  // Its traffic is the node's own, and counted there.
  if (known->pod.spec().host_network)
    sample.usage[Dimension::receive] = sample.usage[Dimension::transmit] = 0;
  return sample;
}

void ClusterFeed::report(const NodeReport& report, Time now) {
  const auto id = node_called(report.node);
  if (!id) {
    ++report_counts_.unknown_nodes;
    return;
  }
  Node& node = nodes_[id->slot].node;
  learn_capacity(node, report.capacity);
  UsageReported event;
  event.node = *id;
  event.measured = std::min(report.measured, now);
  event.total = report.total;
  event.known = report.known;
  event.pods_known = report.pods_known;
  event.over = report.over;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    if (!event.known[d]) continue;
    const double most = d < kFirstRate ? kBeyondBelief * node.capacity.of[d] : HUGE_VAL;
    if (is_amount(event.total.of[d]) && (event.total.of[d] <= most || most <= 0)) continue;
    ++report_counts_.impossible;
    event.known[d] = false;
    event.total.of[d] = 0;
  }
  std::vector<PodUsage> pods;
  pods.reserve(report.pods.size());
  for (const NodeReport::PodPart& part : report.pods)
    if (const auto sample = part_of(report, part, node.name)) pods.push_back(*sample);
  const bool says_something = std::ranges::any_of(event.known, [](bool known) { return known; });
  if (!says_something && pods.empty()) return;
  ++report_counts_.taken;
  samples_.push_back(std::move(pods));
  event.pods = samples_.back();  // its elements stay where they are, however many more follow
  events_.push_back(event);
}

}  // namespace evenkeel::kubernetes
