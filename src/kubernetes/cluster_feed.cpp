#include "kubernetes/cluster_feed.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace evenkeel::kubernetes {
namespace {

constexpr std::string_view kAnyScheduler = "*";  // among the names: pods of all of them are ours

std::string key_of(std::string_view name_space, std::string_view name) {
  return std::string(name_space.empty() ? "default" : name_space) + "/" + std::string(name);
}
std::string key_of(const ObjectIdentity& identity) { return key_of(identity.name_space, identity.name); }

bool is_finished(PodPhase phase) { return phase == PodPhase::succeeded || phase == PodPhase::failed; }

// Whether what a scheduler looks at is the same; templates that are alike are one.
bool is_same(const Pod& a, const Pod& b) {
  return a.shape == b.shape && a.nominated_node == b.nominated_node && a.terminating == b.terminating &&
         a.started == b.started && a.disrupted_by_us == b.disrupted_by_us && a.bar == b.bar;
}

}  // namespace

ClusterFeed::ClusterFeed(Options options, std::function<void(const std::string&)> trouble)
    : options_(std::move(options)), trouble_(std::move(trouble)) {}

void ClusterFeed::apply(const ResourceType& type, const ObjectChange& change) {
  if (type.kind == "Pod") return pod_changed(change);
  if (type.kind == "Node") return node_changed(change);
  object_changed(type, change);
}

bool ClusterFeed::is_ours(const KnownPod& known) const {
  return is_ours(known.pod.spec().scheduler_name, known.pod.shape->name_space);
}

bool ClusterFeed::is_ours(std::string_view scheduler_name, std::string_view name_space) const {
  const auto is_in = [](const std::vector<std::string>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  return (is_in(options_.scheduler_names, kAnyScheduler) ||
          is_in(options_.scheduler_names, scheduler_name)) &&
         (options_.namespaces.empty() || is_in(options_.namespaces, name_space));
}

ClusterFeed::KnownPod& ClusterFeed::new_pod(const std::string& key) {
  if (free_pods_.empty()) {
    free_pods_.push_back(static_cast<std::uint32_t>(pods_.size()));
    pods_.emplace_back().pod.id = {free_pods_.back(), 0};
  }
  const std::uint32_t slot = free_pods_.back();
  free_pods_.pop_back();
  pod_slots_[key] = slot;
  KnownPod fresh;
  fresh.pod.id = {slot, pods_[slot].pod.id.generation + 1};
  fresh.is_known = true;
  return pods_[slot] = std::move(fresh);
}

void ClusterFeed::pod_changed(const ObjectChange& change) {
  const ObjectIdentity& identity = change.object.identity;
  if (change.type == ObjectChange::Type::deleted) return pod_deleted(identity, change.object.json);
  std::optional<ApiObject> object = read(types::pods(), change.object);
  if (!object) return;
  auto& seen = std::get<PodObject>(*object);
  const std::string key = key_of(identity);
  auto at = pod_slots_.find(key);
  if (at != pod_slots_.end() && pods_[at->second].pod.uid != seen.uid) {
    forget(pods_[at->second], PodEnd::deleted);  // the name lives on in another pod
    at = pod_slots_.end();
  }
  KnownPod& known = at == pod_slots_.end() ? new_pod(key) : pods_[at->second];
  if (known.has_ended) return;  // a late word about one that is gone

  resolve_priority(seen);
  const std::string node = std::move(seen.spec.node_name);
  Pod pod;
  pod.id = known.pod.id;
  pod.name = std::move(seen.name);
  pod.uid = std::move(seen.uid);
  pod.created = seen.created;
  pod.phase = seen.phase;
  pod.nominated_node = std::move(seen.nominated_node);
  pod.terminating = seen.terminating;
  pod.started = seen.started;
  pod.disrupted_by_us = seen.disrupted_by_us;
  pod.bar = seen.bar;
  known.unscheduled = std::move(seen.unscheduled);
  pod.shape = templates_.share(seen);
  if (known.promise_written == pod.nominated_node) known.promise_written.reset();
  const bool changed = !is_same(pod, known.pod);
  known.pod = std::move(pod);
  pod_uids_[known.pod.uid] = known.pod.id.slot;
  // Our binding may have been answered before an older state of the pod arrived: nodes are never taken back.
  if (known.node.empty() && !node.empty()) set_node(known, node);
  tell(known, changed);
}

void ClusterFeed::tell(KnownPod& known, bool changed) {
  if (is_finished(known.pod.phase)) {
    retract(known, known.pod.phase == PodPhase::succeeded ? PodEnd::completed : PodEnd::failed);
    leave_node(known);
    known.has_ended = true;
    return;
  }
  if (known.node.empty()) {
    if (!is_ours(known) || known.pod.terminating) return retract(known, PodEnd::deleted);
    if (known.told == Told::waiting && changed) events_.push_back(PodUpdated{known.pod});
    if (known.told == Told::waiting) return;
    known.told = Told::waiting;
    events_.push_back(PodAdded{known.pod});
    return;
  }
  const auto node = node_named(known.node);
  if (!node) return retract(known, PodEnd::deleted);
  const bool found = known.told == Told::nothing;
  if (found) {
    events_.push_back(PodFound{known.pod, *node});
  } else {
    if (known.told == Told::waiting) events_.push_back(PodBound{known.pod.id, *node});
    if (changed) events_.push_back(PodUpdated{known.pod});
  }
  known.told = Told::placed;
  end_assumption(known);
  if (known.pod.phase != PodPhase::running || known.runs) return;
  known.runs = true;
  events_.push_back(PodStarted{known.pod.id, found ? known.pod.started : std::nullopt});
}

// What was told of it ends; should it count again, it does so under a new handle.
void ClusterFeed::retract(KnownPod& known, PodEnd how) {
  end_assumption(known);
  if (known.told == Told::nothing) return;
  events_.push_back(PodGone{known.pod.id, how});
  known.told = Told::nothing;
  known.runs = false;
  ++known.pod.id.generation;
}

void ClusterFeed::end_assumption(KnownPod& known) {
  if (!known.assumed) return;
  const std::uint32_t slot = known.assumed->slot;
  known.assumed.reset();
  --nodes_[slot].assumed;
  free_node(slot);
}

void ClusterFeed::set_node(KnownPod& known, const std::string& node) {
  known.node = node;
  bound_[node].push_back(known.pod.id.slot);
}

void ClusterFeed::leave_node(KnownPod& known) {
  const auto at = bound_.find(known.node);
  if (at == bound_.end()) return;
  std::erase(at->second, known.pod.id.slot);
  if (at->second.empty()) bound_.erase(at);
}

void ClusterFeed::pod_deleted(const ObjectIdentity& identity, std::string_view json) {
  const auto at = pod_slots_.find(key_of(identity));
  if (at == pod_slots_.end() || pods_[at->second].pod.uid != identity.uid) return;
  // Some are finished and deleted between two looks: how they ended is in what they last were.
  PodEnd how = PodEnd::deleted;
  if (!json.empty()) {
    if (const auto object = read(types::pods(), {identity, std::string(json)})) {
      const PodPhase phase = std::get<PodObject>(*object).phase;
      how = phase == PodPhase::succeeded ? PodEnd::completed
            : phase == PodPhase::failed  ? PodEnd::failed
                                         : PodEnd::deleted;
    }
  }
  forget(pods_[at->second], how);
}

void ClusterFeed::forget(KnownPod& known, PodEnd how) {
  retract(known, how);
  leave_node(known);
  pod_slots_.erase(known.pod.full_name());
  pod_uids_.erase(known.pod.uid);
  const PodId id = known.pod.id;
  known = {};
  known.pod.id = id;
  free_pods_.push_back(id.slot);
}

ClusterFeed::KnownPod* ClusterFeed::find(PodId id) {
  if (id.slot >= pods_.size()) return nullptr;
  KnownPod& known = pods_[id.slot];
  return known.is_known && known.told != Told::nothing && known.pod.id == id ? &known : nullptr;
}

const ClusterFeed::KnownPod* ClusterFeed::pod(PodId id) const {
  return const_cast<ClusterFeed*>(this)->find(id);
}

std::optional<PodId> ClusterFeed::pod_named(std::string_view name_space, std::string_view name) const {
  const auto at = pod_slots_.find(key_of(name_space, name));
  if (at == pod_slots_.end() || pods_[at->second].told == Told::nothing) return std::nullopt;
  return pods_[at->second].pod.id;
}

bool ClusterFeed::is_bound(std::string_view name_space, std::string_view name) const {
  const auto at = pod_slots_.find(key_of(name_space, name));
  return at != pod_slots_.end() && !pods_[at->second].node.empty();
}

void ClusterFeed::each_waiting(const std::function<void(const KnownPod&)>& look) const {
  for (const KnownPod& known : pods_)
    if (known.is_known && known.told == Told::waiting) look(known);
}

void ClusterFeed::assumed(PodId pod, NodeId node) {
  KnownPod* known = find(pod);
  if (!known) return;
  EVENKEEL_CHECK(node.slot < nodes_.size());
  end_assumption(*known);
  known->assumed = node;
  ++nodes_[node.slot].assumed;
}

void ClusterFeed::bound(PodId pod, const std::string& node) {
  KnownPod* known = find(pod);
  if (!known || !known->node.empty()) return;
  set_node(*known, node);
  tell(*known, false);
}

void ClusterFeed::bind_failed(PodId pod, std::string why) {
  KnownPod* known = find(pod);
  if (!known || known->told != Told::waiting) return;
  end_assumption(*known);
  events_.push_back(BindFailed{pod, std::move(why)});
}

void ClusterFeed::evict_failed(PodId pod, std::string why) {
  if (find(pod)) events_.push_back(EvictFailed{pod, std::move(why)});
}

void ClusterFeed::vanished(PodId pod) {
  KnownPod* known = find(pod);
  if (!known) return;
  retract(*known, PodEnd::deleted);
  known->has_ended = true;
}

void ClusterFeed::said(PodId pod, UnscheduledCondition why) {
  if (KnownPod* known = find(pod)) known->unscheduled = std::move(why);
}

void ClusterFeed::promise_written(PodId pod, std::string node) {
  KnownPod* known = find(pod);
  if (known && known->pod.nominated_node != node) known->promise_written = std::move(node);
}

void ClusterFeed::tell_again(PodId pod) {
  KnownPod* known = find(pod);
  if (!known || known->told != Told::waiting || known->assumed) return;
  retract(*known, PodEnd::deleted);
  tell(*known, false);
}

}  // namespace evenkeel::kubernetes
