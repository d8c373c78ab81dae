#pragma once
#include <span>
#include <string>
#include <vector>

#include "scheduling/filters/filter.h"
#include "scheduling/network_view.h"

namespace evenkeel::scheduling {

// What upstream's NetworkOverhead works out in PreFilter (scheduler-plugins v0.34.7,
// pkg/networkaware/networkoverhead): of the dependencies of the pod's workload, and of those alone, how many
// are satisfied and violated on each node, and what they cost. The group is looked up in the configured
// namespaces, its pods in all of them; each pair of a placed pod and a dependency that means it counts once.
//
// Deviations, each where upstream ends in a crash, an error or chance: without AppGroup or NetworkTopology
// every node is alike, and it is said why; pods on nodes that are gone are left out; pods count from when
// they are assumed; costs are looked up whatever the order they are listed in.
class NetworkOverhead {
 public:
  NetworkOverhead(const Pod& pod, const ClusterState& cluster, const NetworkArguments& arguments);

  bool scores_equally() const { return equal_; }
  const std::string& missing() const { return missing_; }  // empty: nothing

  struct Count {
    std::int64_t satisfied = 0, violated = 0, cost = 0;
    bool passes() const { return violated <= satisfied; }
  };
  Count count(NodeId node) const;
  void clear_unfit(std::span<std::uint8_t> feasible) const;
  Verdict judge(NodeId node) const;
  void costs(std::span<std::int64_t> of_node) const;

 private:
  static constexpr std::int64_t kMaxCost = 100, kSameZone = 1;
  struct Peers {
    Place place = 0;
    std::int64_t max_cost = 0, pods = 0;
  };
  struct OnNode {
    std::uint32_t node = 0;
    std::int64_t pods = 0;
  };
  const AppGroup* find_group(const ObjectStore& objects, const NetworkArguments& arguments) const;
  void find_peers(const AppGroup& group);
  std::optional<std::int64_t> listed_cost(const NetworkPlaces::Where& from,
                                          const NetworkPlaces::Where& to) const;
  void weigh_place(Place place);

  const Pod& pod_;
  const ClusterState& cluster_;
  NetworkView view_;
  std::string missing_;
  std::vector<Peers> peers_;
  std::vector<OnNode> on_node_;  // by node
  std::vector<Count> of_place_;
  bool equal_ = true;
};

// Upstream's normalisation of costs over the feasible nodes: 100 for the least, 0 for the most; all 0 stay 0.
void add_normalized_costs(std::span<const std::int64_t> costs, std::span<const std::uint8_t> feasible,
                          float weight, std::span<float> totals);

}  // namespace evenkeel::scheduling
