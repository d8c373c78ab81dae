#include "scheduling/parked_pods.h"

namespace evenkeel::scheduling {

std::size_t ParkedPods::KeyHash::operator()(const Key& key) const {
  const std::size_t alone = key.alone ? std::hash<PodId>{}(*key.alone) + 1 : 0;
  return std::hash<const void*>{}(key.shape) ^ (key.profile * 0x9e3779b97f4a7c15ULL) ^ (alone << 1U);
}

ParkedPods::GroupId ParkedPods::find(const Key& key) const {
  const auto at = by_key_.find(key);
  return at == by_key_.end() ? kNone : at->second;
}

ParkedPods::GroupId ParkedPods::park(const Key& key, const std::shared_ptr<const PodTemplate>& shape,
                                     const QueuedPod& pod, FilterSet rejected_by, std::string why, Time now) {
  GroupId id = find(key);
  if (id == kNone) {
    id = free_.empty() ? static_cast<GroupId>(groups_.size()) : free_.back();
    if (free_.empty()) {
      groups_.emplace_back();
      glances_.emplace_back();
    } else {
      free_.pop_back();
    }
    groups_[id].key = key;
    groups_[id].shape = shape;
    by_key_.emplace(key, id);
  }
  put_in(id, pod);
  Group& group = groups_[id];
  set_rejected_by(id, rejected_by);
  group.why = std::move(why);
  group.settled = true;
  if (group.sent == pod.pod) group.sent.reset();
  watch(id, false);
  group.tried = now;
  watch(id, !group.sent);
  return id;
}

void ParkedPods::join(GroupId id, const QueuedPod& pod) {
  put_in(id, pod);
  Group& group = groups_[id];
  if (group.sent != pod.pod) return;
  group.sent.reset();
  watch(id, true);
}

void ParkedPods::watch(GroupId id, bool waits) {
  if (waits) {
    waiting_.emplace(groups_[id].tried, id);
  } else {
    waiting_.erase({groups_[id].tried, id});
  }
}

void ParkedPods::put_in(GroupId id, const QueuedPod& pod) {
  size_ += groups_[id].pods.insert_or_assign(pod.sequence, pod).second ? 1 : 0;
}

std::optional<QueuedPod> ParkedPods::send(GroupId id) {
  Group& group = groups_[id];
  group.settled = false;
  if (group.sent || group.pods.empty()) return std::nullopt;
  const QueuedPod first = group.pods.begin()->second;
  group.pods.erase(group.pods.begin());
  --size_;
  group.sent = first.pod;
  watch(id, false);
  return first;
}

bool ParkedPods::settle_sent(GroupId id, PodId pod) {
  Group& group = groups_[id];
  if (group.sent != pod) return false;
  group.sent.reset();
  watch(id, !group.pods.empty());
  drop_if_empty(id);
  return groups_[id].shape != nullptr;
}

void ParkedPods::remove(GroupId id, std::uint64_t sequence) {
  size_ -= groups_[id].pods.erase(sequence);
  drop_if_empty(id);
}

void ParkedPods::drop_if_empty(GroupId id) {
  Group& group = groups_[id];
  if (!group.shape || !group.pods.empty() || group.sent) return;
  by_key_.erase(group.key);
  watch(id, false);
  group = {};
  glances_[id] = {};
  free_.push_back(id);
}

void ParkedPods::also_rejected_by(GroupId id, FilterSet filters) {
  const FilterSet all = groups_[id].rejected_by | filters;
  if (all != groups_[id].rejected_by) set_rejected_by(id, all);
}

void ParkedPods::set_rejected_by(GroupId id, FilterSet filters) {
  static const FilterSet kFits = filter_bit(kResourceFit.plugin);
  Group& group = groups_[id];
  group.rejected_by = filters;
  group.hint = hint_of(filters);
  glances_[id] = {group.hint.here | group.hint.anywhere,
                  group.hint.anywhere,
                  group.shape->spec.priority,
                  (filters & kFits) != 0,
                  static_cast<double>(group.shape->request.cpu.count),
                  static_cast<double>(group.shape->request.memory.count)};
}

std::optional<ParkedPods::GroupId> ParkedPods::overdue(Time now, Duration longest) const {
  if (next_overdue(longest) > now) return std::nullopt;
  return waiting_.begin()->second;
}

Time ParkedPods::next_overdue(Duration longest) const {
  return waiting_.empty() ? Time::max() : waiting_.begin()->first + longest;
}

}  // namespace evenkeel::scheduling
