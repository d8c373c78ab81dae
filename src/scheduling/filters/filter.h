#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster_state.h"
#include "scheduling/options.h"

namespace evenkeel::scheduling {

struct FilterInput {
  const Pod& pod;
  const ClusterState& cluster;
  const Demand& demand;
  const SchedulingOptions& options;
};

// A filter takes the whole field at once and clears the nodes that will not do. What it
// would say about one node is asked separately, since almost nobody wants to know.
struct Filter {
  std::string_view plugin;              // kube-scheduler's name
  bool (*matters)(const FilterInput&);  // false: every node passes
  void (*apply)(const FilterInput&, std::span<std::uint8_t> feasible);
  // Why the node will not do, in kube-scheduler's words; nothing when it will.
  std::vector<std::string> (*objections)(const FilterInput&, NodeId);
};

// In kube-scheduler's order.
std::span<const Filter> all_filters();  // filters/registry.cpp

struct Objection {
  std::string_view plugin;
  std::string reason;
};
// The first filter's objections, as kube-scheduler reports them.
std::vector<Objection> objections(const FilterInput& input, NodeId node);

// "0/3 nodes are available: 2 Insufficient cpu, 1 node(s) didn't match …"
std::string unschedulable_message(const FilterInput& input);

// The first thing the pod asks for that is not honoured here; empty when there is none.
// Such a pod is left pending and told why: never guessed.
std::string_view unsupported_feature(const PodSpec& spec);

// Shared by filter and scorer.
bool tolerates(std::span<const Toleration> tolerations, const Taint& taint);
bool selects(const PodSpec& spec, const Node& node);  // nodeSelector and required node affinity

extern const Filter kNodeUnschedulable, kNodeName, kTaintToleration, kNodeAffinity, kNodePorts, kResourceFit,
    kUseFit;

}  // namespace evenkeel::scheduling
