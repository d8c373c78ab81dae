#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scheduling/filters/filter.h"
#include "scheduling/network_view.h"

namespace evenkeel::scheduling {

// What it means for the network to put one pod of a group on each node: every edge between it and a pod that
// is placed, whichever of the two depends on the other, once for each pair.
//
// Worked out once per pod: for each place, and for each node that holds one of those pods; all other nodes of
// a place are alike. The cluster must not change meanwhile but through add().
class PodNetwork {
 public:
  PodNetwork(const Pod& pod, const ClusterState& cluster, const NetworkArguments& arguments);

  bool has_peers() const { return !peers_.empty(); }  // else every node is alike
  // What is missing to say more: the group's object, the topology; empty: nothing, or the pod is of no group.
  const std::string& missing() const { return missing_; }

  // Clears the nodes that are too far from a pod with a limit, and those whose choice would book more on a
  // link, or on what leaves a node, than there is.
  void clear_unfit(std::span<std::uint8_t> feasible) const;
  Verdict judge(NodeId node) const;
  // Of each node: the sum over all pairs, unknown costs counting as dearer than any known one.
  void costs(std::span<std::int64_t> of_node) const;
  std::int64_t cost(NodeId node) const;

  // A pod is imagined onto the node (times 1) or away from it (-1).
  void add(const Pod& other, NodeId node, int times);

 private:
  using Bits = BandwidthLedger::Bits;
  struct Traffic {
    Bits out = 0, in = 0;  // sent by the pod at hand, and received
  };
  // Pods in one place, at first on one node, at the other ends of edges that are alike.
  struct Peers {
    std::uint32_t node = 0;
    Place place = 0;
    bool are_targets = false;  // the pod at hand talks to them; else they talk to the pod
    std::int64_t max_cost = GroupGraph::kNoLimit;
    std::int64_t pods = 0;
    Bits bits = 0;
  };
  struct OfPlace {
    std::int64_t cost = 0;
    std::int64_t too_far = 0;  // pairs beyond their limit
    bool has_room = true;      // on every link
  };
  // Of a node that holds peers, what differs from the others of its place.
  struct OfNode {
    std::uint32_t node = 0;
    std::int64_t pods = 0;
    std::int64_t too_far = 0;  // pairs that are so on the place's other nodes
    Traffic traffic;
  };

  void work_out();
  void find_peers();
  void sum_up_nodes();
  void sum_up_places();
  void weigh_place(Place place);
  bool is_too_far(std::optional<std::int64_t> cost, std::int64_t limit) const;
  std::string narrow_link(Place place) const;  // the first that lacks room; empty: none
  const OfNode* holder(NodeId node) const;
  bool peers_may_send_to(NodeId node) const;
  NetworkView view() const { return {view_.places, view_.links, imagined_ ? *imagined_ : view_.ledger}; }
  const BandwidthLedger::Group* group() const {
    return view().ledger.group(pod_.shape->name_space, pod_.shape->app_group);
  }

  const Pod& pod_;
  const ClusterState& cluster_;
  NetworkView view_;
  std::unique_ptr<BandwidthLedger> imagined_;  // with what is only imagined; null: as it is
  std::string missing_;
  std::vector<Peers> peers_;
  std::vector<OfPlace> of_place_;
  std::vector<OfNode> of_node_;                   // few, by node: those that hold peers
  std::map<Place, Traffic> with_place_;           // of peers
  std::map<std::uint32_t, Traffic> with_region_;  // by number of its name
  Bits sent_ = 0;                                 // to all peers together
  std::vector<std::uint32_t> cannot_send_;        // nodes of peers without room for what they would send
};

// One pair of pods that talk, and what it costs from a node; for people.
struct PodEdge {
  PodId peer;
  NodeId peer_node;
  bool is_target = false;  // the pod at hand talks to it; else it talks to the pod
  std::int64_t bandwidth = 0, max_cost = GroupGraph::kNoLimit;
};
std::vector<PodEdge> edges_of(const Pod& pod, const ClusterState& cluster, const NetworkArguments& arguments);

}  // namespace evenkeel::scheduling
