#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cluster/node_report.h"
#include "cluster/world.h"
#include "kubernetes/api_objects.h"
#include "kubernetes/json_field.h"
#include "kubernetes/pod_templates.h"
#include "kubernetes/reflector.h"
#include "kubernetes/resource_type.h"

namespace evenkeel::kubernetes {

// What an API server says of a cluster, as the events a scheduler understands. Gives nodes and pods their
// handles and knows their names. Objects of different kinds may come in any order: a pod that is bound to a
// node nobody told of yet is counted once the node is known.
//
//                    ours, unbound             bound (by us or others), node known
//   not told ──────── PodAdded ───▶ waiting ──────────── PodBound ────▶ placed
//      ▲ │                             │                                   ▲ │
//      │ └────────────────────────── PodFound ─────────────────────────────┘ │
//      └──── PodGone: deleted, finished, not ours any more, its node left ───┘
//
// A pod that comes back from "not told" is a new one to the scheduler: its handle has a new generation.
class ClusterFeed {
 public:
  struct Options {
    std::vector<std::string> scheduler_names;  // whose waiting pods are ours
    std::vector<std::string> namespaces;       // only what waits there is ours; none: everywhere
    std::optional<LabelSelector> nodes;        // others do not exist for us; nor do the pods on them
  };
  enum class Told : std::uint8_t { nothing, waiting, placed };
  struct KnownPod {
    Pod pod;           // as last told, or as it would be
    std::string node;  // where it is bound, which never changes; empty while it waits
    Told told = Told::nothing;
    bool is_known = false;  // false: a free slot
    bool has_ended = false;
    bool runs = false;
    std::optional<NodeId> assumed;  // being bound there by us
    UnscheduledCondition unscheduled;
    std::optional<std::string> promise_written;  // a nomination of ours that no watch has shown yet
  };
  struct KnownObject {
    ClusterObject object;
    std::string uid, resource_version;
  };
  // A pod that waits for us and asks for what cannot be read: nobody decides about it, so its owner is told.
  struct UnreadablePod {
    ObjectIdentity identity;
    std::string scheduler_name, why;
  };

  // `trouble` is told what could not be read, each object once.
  ClusterFeed(Options options, std::function<void(const std::string&)> trouble);

  void apply(const ResourceType& type, const ObjectChange& change);

  // What our own writes found out, before a watch tells it or instead of one. Each is ignored for a pod that
  // is gone meanwhile.
  void assumed(PodId pod, NodeId node);
  void bound(PodId pod, const std::string& node);
  void bind_failed(PodId pod, std::string why);
  void evict_failed(PodId pod, std::string why);
  void vanished(PodId pod);
  void promise_written(PodId pod, std::string node);  // or taken back, where empty
  void said(PodId pod, UnscheduledCondition why);     // written to its status
  void tell_again(PodId pod);  // what was decided about it came to nothing: as if it had just arrived

  // What a node was seen to use becomes UsageReported, and what it can do in network and disk is taken down
  // with it. Names that nobody knows are passed over, and so are amounts that cannot be.
  void report(const NodeReport& report, Time now);
  struct ReportCounts {
    std::uint64_t taken = 0;          // reports
    std::uint64_t unknown_nodes = 0;  // reports
    std::uint64_t unknown_pods = 0;   // parts: no such pod, or it is elsewhere
    std::uint64_t impossible = 0;     // amounts: no number, below nothing, or beyond what there is
  };
  const ReportCounts& report_counts() const { return report_counts_; }

  std::vector<ClusterEvent>& events() { return events_; }  // to be taken by whoever reads them
  // What the reports among them refer to; to be taken along.
  using Samples = std::vector<std::vector<PodUsage>>;
  Samples& samples() { return samples_; }

  const KnownPod* pod(PodId id) const;  // null: no longer told of
  std::optional<PodId> pod_named(std::string_view name_space, std::string_view name) const;
  std::optional<NodeId> node_named(const std::string& name) const;
  std::optional<NodeId> node_called(const std::string& name) const;  // by its name or one of its addresses
  std::optional<PodId> pod_with_uid(const std::string& uid) const;
  // Whether the pod of that name was seen on some node, also on one that is not there.
  bool is_bound(std::string_view name_space, std::string_view name) const;
  const std::string* node_name(NodeId node) const;  // null: it left
  const KnownObject* claim(std::string_view name_space, std::string_view name) const;
  const KnownObject* volume(std::string_view name) const;
  void each_waiting(const std::function<void(const KnownPod&)>& look) const;
  bool is_ours(const KnownPod& known) const;
  bool is_ours(std::string_view scheduler_name, std::string_view name_space) const;

  std::uint64_t unreadable() const { return unreadable_; }
  // Since they were last taken; bounded, the rest is in the log alone.
  std::vector<UnreadablePod>& unreadable_pods() { return unreadable_pods_; }
  std::size_t templates() const { return templates_.size(); }
  PodTemplates& workloads() { return templates_; }  // by what names they are kept beyond our life

 private:
  struct KnownNode {
    Node node;
    bool is_known = false;
    std::uint32_t assumed = 0;  // pods we are binding to it; its handle is not given away before that ends
  };

  void pod_changed(const ObjectChange& change);
  void pod_deleted(const ObjectIdentity& identity, std::string_view json);
  void node_changed(const ObjectChange& change);
  void node_deleted(const std::string& name);
  void object_changed(const ResourceType& type, const ObjectChange& change);
  std::optional<ApiObject> read(const ResourceType& type, const WireObject& object);
  void refuse(const std::string& name, const std::string& why);
  void note_unreadable_pod(const ObjectIdentity& identity, JsonValue object, const std::string& why);

  void tell(KnownPod& known, bool changed);
  void retract(KnownPod& known, PodEnd how);
  void end_assumption(KnownPod& known);
  void set_node(KnownPod& known, const std::string& node);
  void leave_node(KnownPod& known);
  void forget(KnownPod& known, PodEnd how);
  KnownPod& new_pod(const std::string& key);
  KnownPod* find(PodId id);
  NodeId new_node();
  void free_node(std::uint32_t slot);
  void resolve_priority(PodObject& pod) const;
  std::optional<PodUsage> part_of(const NodeReport& report, const NodeReport::PodPart& part,
                                  const std::string& node);
  void learn_capacity(Node& node, const Usage& capacity);
  void name_node(const Node& node, bool known);

  Options options_;
  std::function<void(const std::string&)> trouble_;
  PodTemplates templates_;
  std::vector<KnownPod> pods_;  // by PodId::slot
  std::vector<std::uint32_t> free_pods_;
  std::unordered_map<std::string, std::uint32_t> pod_slots_;  // by namespace/name
  std::unordered_map<std::string, std::vector<std::uint32_t>>
      bound_;  // unfinished pods, by their node's name
  std::unordered_map<std::string, std::uint32_t> pod_uids_;
  std::vector<KnownNode> nodes_;  // by NodeId::slot
  std::vector<std::uint32_t> free_nodes_;
  std::unordered_map<std::string, std::uint32_t> node_slots_;
  std::unordered_map<std::string, KnownObject> objects_;  // by kind and name
  std::unordered_map<std::string, std::uint32_t> node_addresses_;
  std::vector<ClusterEvent> events_;
  Samples samples_;
  ReportCounts report_counts_;
  std::unordered_set<std::string> refused_;  // already told
  std::uint64_t unreadable_ = 0;
  std::vector<UnreadablePod> unreadable_pods_;
};

}  // namespace evenkeel::kubernetes
