#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "scheduling/pending_queue.h"
#include "scheduling/queueing_hints.h"

namespace evenkeel::scheduling {

// Pods that no node would take, by what they look like and by which filters rejected them.
//
// Pods of one template under one profile are rejected alike, so they are one group and one of them speaks
// for all: when something happens that may help, the first is tried again. Is it placed, the next one is;
// is it rejected, the others would be too. Five thousand replicas cost as much as one.
//
// Pods that were promised a node, or whose volumes are made for them alone, are groups of their own.
class ParkedPods {
 public:
  using GroupId = std::uint32_t;
  static constexpr GroupId kNone = ~GroupId{0};

  struct Key {
    const PodTemplate* shape = nullptr;
    std::size_t profile = 0;
    std::optional<PodId> alone;
    bool operator==(const Key&) const = default;
  };
  struct Group {
    Key key;
    std::shared_ptr<const PodTemplate> shape;  // null: the place is free
    std::map<std::uint64_t, QueuedPod> pods;   // by sequence: the longest waiting first
    FilterSet rejected_by = 0;
    QueueingHint hint;          // what those wait for
    std::string why;            // said of the one that was tried last
    bool settled = false;       // tried, rejected, and nothing that may help has happened since
    std::optional<PodId> sent;  // is being tried for all of them
    Time tried{};
  };

  // What is looked at upon every event, of every group: kept apart and small.
  struct Glance {
    Changes cares = 0, anywhere = 0;  // 0: nobody is there
    std::int32_t priority = 0;
    bool counts_room = false;  // among others NodeResourcesFit rejects it
    double cpu = 0, memory = 0;
  };

  // The pod was tried and rejected.
  GroupId park(const Key& key, const std::shared_ptr<const PodTemplate>& shape, const QueuedPod& pod,
               FilterSet rejected_by, std::string why, Time now);
  // The same without being tried: its kind was, and nothing has happened since.
  void join(GroupId group, const QueuedPod& pod);
  // The first of the group is to be tried again; none: one is on its way already, or nobody is left.
  std::optional<QueuedPod> send(GroupId group);
  // The pod, if it was sent, found a place or is gone; true: another one may be sent.
  bool settle_sent(GroupId group, PodId pod);
  void remove(GroupId group, std::uint64_t sequence);

  GroupId find(const Key& key) const;  // kNone: no such group
  Group& group(GroupId id) { return groups_[id]; }
  const Group& group(GroupId id) const { return groups_[id]; }
  std::span<const Glance> glances() const { return glances_; }  // by GroupId
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // The filters that reject a group have become more.
  void also_rejected_by(GroupId group, FilterSet filters);

  // A group that has waited for that long with none of it on its way, the longest waiting first.
  std::optional<GroupId> overdue(Time now, Duration longest) const;
  Time next_overdue(Duration longest) const;

 private:
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  void put_in(GroupId group, const QueuedPod& pod);
  void drop_if_empty(GroupId group);
  void watch(GroupId group, bool waits);
  void set_rejected_by(GroupId group, FilterSet filters);

  std::vector<Group> groups_;
  std::vector<Glance> glances_;  // likewise
  std::vector<GroupId> free_;
  std::unordered_map<Key, GroupId, KeyHash> by_key_;
  std::set<std::pair<Time, GroupId>> waiting_;  // since when; groups of which none is on its way
  std::size_t size_ = 0;
};

}  // namespace evenkeel::scheduling
