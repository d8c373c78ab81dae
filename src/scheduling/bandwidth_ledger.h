#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cluster/cluster_state.h"
#include "scheduling/group_graph.h"
#include "scheduling/network_places.h"

namespace evenkeel::scheduling {

// Where the pods of each application group are, and what they reserve between them.
//
// Every pair of pods a, b of an edge with a bandwidth reserves that much on the way from a to b: on a's node
// if b is on another one, and on the link between their zones if these differ within one region, else on the
// link between their regions if those differ. Pods count as soon as they are assumed on a node and until they
// are reported gone from it, whoever placed them: so what is reserved is right after bindings that failed,
// after deletions, and in a scheduler that has just been started.
class BandwidthLedger {
 public:
  // Sums of what anybody may write into an object: never overflows.
  using Bits = __int128;

  struct OnNode {
    std::uint32_t node = 0, pods = 0;
  };
  struct Group {
    GroupGraph graph;
    std::vector<AppWorkload> made_of;     // what the graph was made of
    std::vector<std::vector<OnNode>> at;  // by workload: where its pods are
    std::span<const OnNode> pods_of(std::uint32_t workload) const { return at[workload]; }
  };

  // Takes in what happened since the last call.
  void refresh(const ClusterState& cluster, const NetworkPlaces& places);
  // A pod comes to a node or leaves it. For whoever imagines things on a copy.
  void note(const PodTemplate& shape, NodeId node, bool came, const NetworkPlaces& places);

  const Group* group(std::string_view name_space, std::string_view name) const;  // null: no such AppGroup

  // bit/s reserved; zones and regions are numbers of names.
  Bits between_zones(std::uint32_t from, std::uint32_t to) const { return find(zones_, from, to); }
  Bits between_regions(std::uint32_t from, std::uint32_t to) const { return find(regions_, from, to); }
  Bits leaving(NodeId node) const { return node.slot < leaving_.size() ? leaving_[node.slot] : 0; }
  const std::vector<Bits>& leaving() const { return leaving_; }  // by NodeId::slot

 private:
  using Used = std::unordered_map<std::uint64_t, Bits>;
  static Bits find(const Used& used, std::uint32_t from, std::uint32_t to) {
    const auto at = used.find(std::uint64_t{from} << 32U | to);
    return at == used.end() ? 0 : at->second;
  }
  void begin_anew(const ClusterState& cluster, const NetworkPlaces& places);
  void read_groups(const ClusterState& cluster, const NetworkPlaces& places);
  void place_members(const ClusterState& cluster, const AppGroup& of, Group& group);
  void reserve_all(const Group& group, const NetworkPlaces& places, std::int64_t sign);
  void reserve(std::uint32_t from, std::uint32_t to, Bits bits, const NetworkPlaces& places);

  std::map<std::string, Group, std::less<>> groups_;  // "namespace/name"
  Used zones_, regions_;
  std::vector<Bits> leaving_;
  std::uint64_t objects_ = ~std::uint64_t{0}, noted_ = ~std::uint64_t{0},
                moves_ = 0;  // versions, as last seen
};

}  // namespace evenkeel::scheduling
