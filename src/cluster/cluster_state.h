#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/column.h"
#include "base/time.h"
#include "cluster/attached.h"
#include "cluster/group_members.h"
#include "cluster/node.h"
#include "cluster/node_matches.h"
#include "cluster/object_store.h"
#include "cluster/placement_log.h"
#include "cluster/pod.h"
#include "cluster/pod_census.h"
#include "cluster/topology.h"
#include "cluster/world.h"

namespace evenkeel {

// One array per fact, indexed by NodeId::slot, so that a question about every node is a
// straight walk through memory. What is walked for every pod is kept as the answer needs it
// (what is free, not what there is and what is taken), so that little is read. Amounts are
// doubles holding exact integers (below 2^53): vector units multiply those best.
struct NodeColumns {
  std::vector<std::uint8_t> present;
  Column<double> allocatable_cpu, allocatable_memory, requested_cpu, requested_memory;
  Column<double> free_cpu, free_memory;                // allocatable less requested; below 0: over-committed
  Column<double> room_cpu, room_memory;                // allocatable less what non_zero_request says
  Column<double> percent_per_cpu, percent_per_memory;  // see percent_per; 0 on odd nodes
  // Requested of allocatable and one over allocatable, near enough for a first look (0 where
  // either is missing); and how evenly the two are requested, 0..100, exactly as
  // NodeResourcesBalancedAllocation rounds it.
  Column<float> cpu_share, memory_share, per_cpu_near, per_memory_near, balance;
  Column<float> pods, free_pods;  // free: how many more it may take
  // Expected use as a share of capacity (0 where absent), and one over the capacity.
  std::array<Column<float>, kDimensions> utilization, per_unit;
  std::array<Column<float>, kDimensions> variance;  // of that share
  std::vector<std::uint8_t> tainted, cordoned;
  std::vector<std::uint32_t> zone;  // topology.kubernetes.io/zone, numbered as met; 0: no such label

  std::size_t tainted_nodes = 0, cordoned_nodes = 0;
  std::size_t odd_nodes = 0;  // no CPU, no memory, or more than kEvenWhole of either

  std::size_t size() const { return present.size(); }
};

// 100 / whole, rounded up by so little that floor(part * percent_per(whole)) is exactly the
// integer division 100 * part / whole, for 0 <= part <= whole <= kEvenWhole: the product is
// never below the true quotient, and above it by less than the 1 / whole that a quotient
// which is no whole number lacks to the next.
inline constexpr double kEvenWhole = 4398046511104.0;  // 2^42: 4 TiB
double percent_per(double whole);

enum class PodPlace { pending, assumed, bound };

struct PodRecord {
  Pod pod;
  PodPlace place = PodPlace::pending;
  NodeId node;                // meaningful unless pending
  Time since{};               // when it was assumed or found there
  bool started = false;       // its containers run; since then says from when
  Demand expected;            // counted in the node's columns while placed
  Usage sampled;              // sum of the samples seen of this very pod
  Usage recent;               // the same, the last quarter of an hour counting most
  std::uint32_t samples = 0;  // 0: no sample shows it yet
  Time sampled_at{};
  std::uint32_t position = 0;  // in its node's list of pods
  PodCensus::Kind kind = 0;    // meaningful while placed and the census is taken
  bool hidden = false;         // imagined away, see ClusterState::hide
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
  // Grows whenever a node comes, goes or is described differently.
  std::uint64_t nodes_version() const { return nodes_version_; }
  // Grows whenever anything about the node's pods, load or shape changes.
  std::uint64_t version(NodeId node) const { return versions_[node.slot]; }
  void touch(NodeId node) { ++versions_[node.slot]; }  // for what is known of the node elsewhere

  void add_pending(Pod pod);
  void found(Pod pod, NodeId node, const Demand& expected, Time now);
  void assume(PodId pod, NodeId node, const Demand& expected, Time now);
  bool confirm(PodId pod, NodeId node, Time now);  // false: unknown pod
  bool unassume(PodId pod);                        // back to pending; false unless it was assumed
  void remove_pod(PodId pod);

  const PodRecord* pod(PodId pod) const { return const_cast<ClusterState*>(this)->find(pod); }
  std::size_t pod_count() const { return pod_count_; }

  // Pods of application groups, waiting and placed.
  const GroupMembers& groups() const { return groups_; }
  const PlacementLog& placement_log() const { return placement_log_; }  // of those
  // Grows when a node comes or goes, or its labels or extended resources change.
  std::uint64_t node_shapes() const { return node_shapes_; }
  // What deciding code works out of the cluster and keeps up; a copy of the cluster starts without.
  template <class Part>
  Part& attached() const {
    return attached_.of<Part>();
  }

  // What the pod is changed, where it is did not; unknown pods are ignored.
  void update_pod(const Pod& pod);

  // A pod is imagined away from its node, or a waiting one onto a node, and back: what filters
  // see of the node changes, what is expected of its load does not. Every hide is ended by a
  // show, every imagine by a forget, last in first out.
  void hide(PodId pod);
  void show(PodId pod);
  void imagine(PodId pod, NodeId node);
  void forget(PodId pod);

  // How many of the pods that are meant each node holds. Valid until anything changes.
  std::span<const std::uint32_t> pods_meant(const PodQuery& query) const;
  // Which nodes are meant, one flag per slot. Valid until anything changes.
  std::span<const std::uint8_t> nodes_meant(const NodeQuery& query) const;
  // Pods with rules about other pods.
  const RuleCensus& rules() const { return rules_; }
  const Topology& topology(const std::string& key) const;
  // The nodes that hold an image of that name.
  struct ImageOnNode {
    std::uint32_t node;
    Bytes size;
  };
  std::span<const ImageOnNode> image(const std::string& name) const;
  bool knows_images() const { return !images_.empty(); }

  // Pods on nodes that use the claim by name (ephemeral volumes do not count).
  std::uint32_t pods_using_claim(const std::string& name_space, const std::string& claim) const;
  // Placed pods whose priority is lower.
  bool has_pods_below(std::int32_t priority) const {
    return !by_priority_.empty() && by_priority_.begin()->first < priority;
  }
  std::optional<NodeId> node_named(std::string_view name) const;

  // Volumes promised to the claims of a pod that is being bound, until reports show them.
  void reserve_volumes(std::span<const VolumeBinding> volumes, NodeId node) {
    objects_.reserve(volumes, nodes_[node.slot].node.name);
  }
  void release_volumes(std::span<const VolumeBinding> volumes) { objects_.release(volumes); }

  void set_object(const ClusterObject& object) { objects_.set(object); }
  void remove_object(const ClusterObject& object) { objects_.remove(object); }
  const ObjectStore& objects() const { return objects_; }

  void mark_started(PodId pod, Time now);
  void set_expected(PodId pod, const Demand& expected);
  PodRecord* add_sample(PodId pod, const Usage& usage, Time measured);  // null: not placed, not counted
  // Room kept for a pod that is on its way, as if it were there; every reserve is ended by a release.
  void reserve(NodeId node, const PodTemplate& shape, const Demand& expected);
  void release(NodeId node, const PodTemplate& shape, const Demand& expected);
  // One node's sample, in one go: each pod's part is added to its record, expected_use(record)
  // then says what the pod is expected to use from now on, and what no pod explains is base load.
  //
  // A dimension that was not measured stays as it was believed to be. One that is known of the node alone is
  // shared out: pods that run long enough to show in it count by their profiles, all of them scaled down
  // where they come to more than the node uses, and what is left is base load.
  template <class ExpectedUse>
  void add_report(const UsageReported& report, ExpectedUse expected_use) {
    add_report(report, expected_use, [](const PodRecord& record) { return record.expected; });
  }
  template <class ExpectedUse, class Profile>
  void add_report(const UsageReported& report, ExpectedUse expected_use, Profile profile);
  // The node's samples are too old to go by: its pods count by their profiles, and it itself by what it
  // usually used, as if they had never been seen. The next report is believed again.
  template <class Profile>
  void forget_samples(NodeId node, Profile profile);
  // Whether what is known of the node's use comes from samples.
  bool is_sampled(NodeId node) const { return nodes_[node.slot].sampled; }
  // What the node itself uses: system daemons, and whatever no pod explains.
  void set_base_load(NodeId node, const Usage& base, Time measured);
  const Usage& base_load(NodeId node) const { return nodes_[node.slot].base; }
  // When the node's last sample was taken; Time::min() if never.
  Time measured_at(NodeId node) const { return nodes_[node.slot].measured; }
  Time last_measured() const { return last_measured_; }  // of any node
  const Demand& load(NodeId node) const { return nodes_[node.slot].load; }
  // What the node's last samples show, averaged as DRS's monitor does (section 3.1): CPU and network over
  // five, memory and disk over three, none older than a second before the newest. Nothing: never measured.
  std::optional<Usage> measured_use(NodeId node) const;
  // What the node's pods request of storage and extended resources.
  const Resources& requested(NodeId node) const { return nodes_[node.slot].requested; }

  // How many pods of a workload each node holds, by ascending NodeId::slot; what spreading
  // looks at.
  struct Replicas {
    std::uint32_t node, count;
  };
  std::span<const Replicas> replicas(WorkloadId workload) const;

 private:
  static constexpr std::size_t kWindowSamples = 5;
  struct TotalSample {
    Usage total;
    Time measured{};
  };
  struct NodeEntry {
    Node node;
    std::vector<PodId> pods;
    Resources requested;  // beyond the columns: storage and extended resources
    Demand load;
    Usage base;
    Usage usual_base;  // the same, the last quarter of an hour counting most
    Time measured = Time::min();
    bool sampled = false;                            // and the sample is still gone by
    std::array<TotalSample, kWindowSamples> window;  // a ring, the newest before `next_sample`
    std::uint8_t samples = 0, next_sample = 0;
  };

  PodRecord* find(PodId pod) {
    if (pod.slot >= pods_.size() || !in_use_[pod.slot]) return nullptr;
    PodRecord& record = pods_[pod.slot];
    return record.pod.id == pod ? &record : nullptr;
  }
  void put(PodRecord& record, NodeId node, const Demand& expected, Time now);
  void take(PodRecord& record);
  void count(NodeId node, const PodTemplate& shape, const Demand& expected, int sign);
  void count_replica(NodeId node, const PodTemplate& shape, bool added);
  void refresh_load(NodeEntry& entry);
  struct Undivided {
    PodRecord* record;
    Demand profile;
  };
  bool shows(const PodRecord& record, const UsageReported& report) const;
  static Usage fill_in(Usage usage, const KnownDimensions& known, const Usage& expected);
  static void share_out(NodeEntry& entry, const UsageReported& report, std::span<const Undivided> pods,
                        Usage& base);
  static void expect(NodeEntry& entry, PodRecord& record, const Demand& expected);
  static void remember_total(NodeEntry& entry, const Usage& total, Time measured);
  void refresh_shares(std::size_t node);
  void count_kinds(const Node& node, std::size_t i, int sign);
  void count_images(const std::vector<NodeImage>& images, std::uint32_t slot, bool added);
  std::uint32_t zone_number(const Labels& labels);
  void grow(std::size_t nodes);

  std::vector<NodeEntry> nodes_;
  std::vector<std::uint64_t> versions_;  // apart from the rest: looked at for every node at every decision
  NodeColumns columns_;
  std::vector<PodRecord> pods_;                  // by PodId::slot
  std::vector<std::uint8_t> in_use_;             // likewise
  std::vector<std::vector<Replicas>> replicas_;  // by WorkloadId::slot
  std::vector<std::string> zones_;               // zones_[i] is number i + 1
  void take_census() const;
  void count_wishes(const PodTemplate& shape, bool added);
  void count_requests(NodeId node, const PodTemplate& shape, int sign);

  ObjectStore objects_;
  GroupMembers groups_;
  PlacementLog placement_log_;
  std::uint64_t node_shapes_ = 0;
  mutable Attached attached_;
  std::map<std::int32_t, std::size_t> by_priority_;  // of placed pods
  std::map<std::string, std::uint32_t, std::less<>> claims_used_;
  std::map<std::string, NodeId, std::less<>> node_names_;
  RuleCensus rules_;
  // Made when first asked for and kept up since: worlds that never ask never pay.
  mutable PodCensus census_;
  mutable bool census_taken_ = false;
  mutable NodeMatches node_matches_;
  mutable std::map<std::string, Topology, std::less<>> topologies_;
  std::map<std::string, std::vector<ImageOnNode>, std::less<>> images_;
  std::size_t node_count_ = 0, pod_count_ = 0;
  std::uint64_t nodes_version_ = 0;
  Time last_measured_ = Time::min();
};

template <class ExpectedUse, class Profile>
void ClusterState::add_report(const UsageReported& report, ExpectedUse expected_use, Profile profile) {
  if (!has_node(report.node)) return;
  NodeEntry& entry = nodes_[report.node.slot];
  const bool divided = report.pods_known == kAllKnown;
  const Usage total = fill_in(report.total, report.known, entry.load.mean);
  Usage base = total;
  for (const PodUsage& sample : report.pods) {
    const PodRecord* known = divided ? nullptr : find(sample.pod);
    const Usage usage = known ? fill_in(sample.usage, report.pods_known, known->expected.mean) : sample.usage;
    base -= usage;
    PodRecord* record = add_sample(sample.pod, usage, report.measured);
    if (!record) continue;
    const Demand expected = expected_use(*record, usage);
    if (record->node == report.node) expect(entry, *record, expected);
  }
  if (!divided) {
    std::vector<Undivided> pods;
    for (const PodId id : entry.pods)
      if (PodRecord* record = find(id); record && shows(*record, report))
        pods.push_back({record, profile(*record)});
    share_out(entry, report, pods, base);
  }
  for (double& amount : base.of) amount = std::max(0.0, amount);
  remember_total(entry, total, report.measured);
  set_base_load(report.node, fill_in(base, report.known, entry.base), report.measured);
}

template <class Profile>
void ClusterState::forget_samples(NodeId node, Profile profile) {
  if (!has_node(node)) return;
  NodeEntry& entry = nodes_[node.slot];
  for (const PodId id : entry.pods) {
    PodRecord* record = find(id);
    if (!record) continue;
    record->samples = 0;
    record->sampled = {};
    expect(entry, *record, profile(*record));
  }
  entry.samples = 0;
  entry.load.mean += entry.usual_base - entry.base;
  entry.base = entry.usual_base;
  entry.sampled = false;
  refresh_load(entry);
}

}  // namespace evenkeel
