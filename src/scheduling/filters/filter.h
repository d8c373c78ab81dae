#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster_state.h"
#include "scheduling/options.h"

namespace evenkeel::scheduling {

class PreparedPod;

struct FilterInput {
  const Pod& pod;
  const ClusterState& cluster;
  const Demand& demand;
  const SchedulingOptions& options;
  // What filters worked out about the pod and the whole cluster; see filters/prepared.h.
  mutable std::shared_ptr<PreparedPod> prepared{};
};

// What a filter says of one node.
struct Verdict {
  std::vector<std::string> reasons;  // in kube-scheduler's words; none: the node will do
  bool unresolvable = false;         // and ending pods there would not change it
  bool failed = false;               // the filter could not tell, and then no node will do
  bool passes() const { return reasons.empty(); }
};

// Why no node at all will do, known before any is looked at.
struct Refusal {
  std::string_view plugin;
  std::string reason;
  bool unresolvable = true;
};

// A filter takes the whole field at once and clears the nodes that will not do. What it
// would say about one node is asked separately, since almost nobody wants to know.
struct Filter {
  std::string_view plugin;              // kube-scheduler's name
  bool (*matters)(const FilterInput&);  // false: every node passes
  void (*apply)(const FilterInput&, std::span<std::uint8_t> feasible);
  Verdict (*judge)(const FilterInput&, NodeId);
  std::optional<Refusal> (*refuse)(const FilterInput&) = nullptr;  // null: never does
  bool by_default = true;                                          // in profiles that name no filters
};

// In kube-scheduler's order.
std::span<const Filter> all_filters();  // filters/registry.cpp

// Whether the profile has the filter, and the filter has anything to say.
bool counts(const Filter& filter, const FilterInput& input);

// A profile gets a filter that is none of the default profile's.
void enable_filter(std::string_view plugin, Profile& profile);

// Clears every node that will not do.
void apply_filters(const FilterInput& input, std::span<std::uint8_t> feasible);
// The first refusal; none: nodes must be looked at one by one.
std::optional<Refusal> refusal(const FilterInput& input);

struct Objection {
  std::string_view plugin;
  std::string reason;
};
struct NodeVerdict {
  std::vector<Objection> objections;  // the first filter's, as kube-scheduler reports them
  bool unresolvable = false;
  bool failed = false;
};
NodeVerdict judge(const FilterInput& input, NodeId node);
// Its objections, refusals of the whole cluster among them.
std::vector<Objection> objections(const FilterInput& input, NodeId node);

// "0/3 nodes are available: 2 Insufficient cpu, 1 node(s) didn't match …"
std::string unschedulable_message(const FilterInput& input);
std::string unschedulable_message(const FilterInput& input,
                                  const std::function<NodeVerdict(NodeId)>& verdict_on);

// The first thing the pod asks for that is not honoured here; empty when there is none.
// Such a pod is left pending and told why: never guessed.
std::string_view unsupported_feature(const PodSpec& spec);

// The nodes that required node affinity asks for by name, should every term of it do so: no other is
// looked at. None: any node may do.
std::optional<std::vector<std::string>> named_nodes(const PodSpec& spec);

// Shared by filter and scorer.
bool tolerates(std::span<const Toleration> tolerations, const Taint& taint);
bool has_untolerated_taint(const PodSpec& spec, const Node& node);  // NoSchedule or NoExecute
bool selects(const PodSpec& spec, const Node& node);                // nodeSelector and required node affinity

extern const Filter kNodeUnschedulable, kNodeName, kTaintToleration, kNodeAffinity, kNodePorts, kResourceFit,
    kUseFit, kPodTopologySpread, kInterPodAffinity, kNodeDeclaredFeatures, kVolumeRestrictions,
    kNodeVolumeLimits, kVolumeBinding, kVolumeZone, kNetworkOverhead, kNodeNetworkCostFit, kNetworkFit;

}  // namespace evenkeel::scheduling
