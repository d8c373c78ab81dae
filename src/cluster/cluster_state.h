#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "cluster/node.h"
#include "cluster/pod.h"

namespace evenkeel {

// One array per fact, indexed by NodeId::slot, so that a question about every node is a
// straight walk through memory. Requests are doubles holding exact integers (below 2^53):
// vector units divide those, and do not divide 64-bit integers.
struct NodeColumns {
  std::vector<std::uint8_t> present;
  std::vector<double> allocatable_cpu, allocatable_memory;
  std::vector<double> requested_cpu, requested_memory;
  std::vector<double> per_cpu, per_memory;  // one over what is allocatable; 0 where nothing is
  // Requested of allocatable, near enough for a first look, and how evenly the two are
  // requested, 0..100, exactly as NodeResourcesBalancedAllocation rounds it.
  std::vector<float> cpu_share, memory_share, per_cpu_near, per_memory_near, balance;
  std::vector<double> non_zero_cpu, non_zero_memory;  // see non_zero_request
  std::vector<float> pods, max_pods;
  // Expected use as a share of capacity (0 where absent), and one over the capacity.
  std::array<std::vector<float>, kDimensions> utilization, per_unit;
  std::array<std::vector<float>, kDimensions> variance;  // of that share
  std::vector<std::uint8_t> tainted, cordoned;
  std::vector<std::uint32_t> zone;  // topology.kubernetes.io/zone, numbered as met; 0: no such label

  std::size_t tainted_nodes = 0, cordoned_nodes = 0, odd_nodes = 0;  // odd: no CPU or no memory at all

  std::size_t size() const { return present.size(); }
};

enum class PodPlace { pending, assumed, bound };

struct PodRecord {
  Pod pod;
  PodPlace place = PodPlace::pending;
  NodeId node;                 // meaningful unless pending
  Time since{};                // when it was assumed or found there
  bool started = false;        // its containers run; since then says from when
  Demand expected;             // counted in the node's columns while placed
  Usage sampled;               // sum of the samples seen of this very pod
  Usage recent;                // the same, the last quarter of an hour counting most
  std::uint32_t samples = 0;   // 0: no sample shows it yet
  Time sampled_at{};
  std::uint32_t position = 0;  // in its node's list of pods
};

// Our belief about the cluster: what was reported, plus what we decided and was not yet
// reported. Every change costs O(1) in nodes and pods.
//
//             assume              confirm
//   pending ─────────▶ assumed ───────────▶ bound ──▶ (remove)
//      ▲                  │ unassume           ▲
//      └──────────────────┘                    │ found: placed by someone else
//
// Reports win over assumptions. Reports about pods or nodes that are unknown, or known
// under another generation, are ignored: they are late echoes.
class ClusterState {
 public:
  void set_node(const Node& node);  // new or changed
  void remove_node(NodeId node);    // its pods stay on record until they are reported gone
  bool has_node(NodeId node) const { return node.slot < nodes_.size() && columns_.present[node.slot] != 0; }
  const Node& node(NodeId node) const { return nodes_[node.slot].node; }
  std::span<const PodId> pods_on(NodeId node) const { return nodes_[node.slot].pods; }
  std::size_t node_count() const { return node_count_; }
  const NodeColumns& columns() const { return columns_; }
  // Grows whenever anything about the node's pods, load or shape changes.
  std::uint64_t version(NodeId node) const { return nodes_[node.slot].version; }

  void add_pending(Pod pod);
  void found(Pod pod, NodeId node, const Demand& expected, Time now);
  void assume(PodId pod, NodeId node, const Demand& expected, Time now);
  bool confirm(PodId pod, NodeId node, Time now);  // false: unknown pod
  bool unassume(PodId pod);                        // back to pending; false unless it was assumed
  void remove_pod(PodId pod);

  const PodRecord* pod(PodId pod) const;
  std::size_t pod_count() const { return pod_count_; }

  void mark_started(PodId pod, Time now);
  void set_expected(PodId pod, const Demand& expected);
  void add_sample(PodId pod, const Usage& usage, Time measured);
  // Room kept for a pod that is on its way, as if it were there; every reserve is ended by a release.
  void reserve(NodeId node, const PodTemplate& shape, const Demand& expected);
  void release(NodeId node, const PodTemplate& shape, const Demand& expected);
  // The same for several pods of one node, at the price of one.
  struct Sampled {
    PodId pod;
    Demand expected;
  };
  void set_expected(NodeId node, std::span<const Sampled> pods);
  // What the node itself uses: system daemons, and whatever no pod explains.
  void set_base_load(NodeId node, const Usage& base, Time measured);
  const Usage& base_load(NodeId node) const { return nodes_[node.slot].base; }
  // When the node's last sample was taken; Time::min() if never.
  Time measured_at(NodeId node) const { return nodes_[node.slot].measured; }
  Time last_measured() const { return last_measured_; }  // of any node
  const Demand& load(NodeId node) const { return nodes_[node.slot].load; }
  // What the node's pods request of storage and extended resources.
  const Resources& requested(NodeId node) const { return nodes_[node.slot].requested; }

  // How many pods of a workload each node holds, by ascending NodeId::slot; what spreading
  // looks at.
  struct Replicas {
    std::uint32_t node, count;
  };
  std::span<const Replicas> replicas(WorkloadId workload) const;

 private:
  struct NodeEntry {
    Node node;
    std::vector<PodId> pods;
    Resources requested;  // beyond the columns: storage and extended resources
    Demand load;
    Usage base;
    Time measured = Time::min();
    std::uint64_t version = 0;
  };

  PodRecord* find(PodId pod);
  void put(PodRecord& record, NodeId node, const Demand& expected, Time now);
  void take(PodRecord& record);
  void count(NodeId node, const PodTemplate& shape, const Demand& expected, int sign);
  void count_replica(NodeId node, const PodTemplate& shape, bool added);
  void refresh_load(NodeEntry& entry);
  void refresh_shares(std::size_t node);
  void count_kinds(const Node& node, std::size_t i, int sign);
  std::uint32_t zone_number(const Labels& labels);
  void grow(std::size_t nodes);

  std::vector<NodeEntry> nodes_;
  NodeColumns columns_;
  std::vector<PodRecord> pods_;       // by PodId::slot
  std::vector<std::uint8_t> in_use_;  // likewise
  std::vector<std::vector<Replicas>> replicas_;  // by WorkloadId::slot
  std::vector<std::string> zones_;    // zones_[i] is number i + 1
  std::size_t node_count_ = 0, pod_count_ = 0;
  Time last_measured_ = Time::min();
};

}  // namespace evenkeel
