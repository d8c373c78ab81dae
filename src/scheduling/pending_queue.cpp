#include "scheduling/pending_queue.h"

namespace evenkeel::scheduling {

void PendingQueue::push(const QueuedPod& pod) {
  ++size_;
  if (goes_by_arrival(pod)) {
    by_arrival_.push(pod);
    return;
  }
  if (pod.workload.slot >= lanes_.size()) lanes_.resize(pod.workload.slot + std::size_t{1});
  auto& pods = lanes_[pod.workload.slot].pods;
  // A retried pod goes back to where it stood, behind those of higher priority.
  const auto goes_before = [&](const QueuedPod& other) {
    return pod.priority != other.priority ? pod.priority > other.priority : pod.sequence < other.sequence;
  };
  auto at = pods.end();
  while (at != pods.begin() && goes_before(*(at - 1))) --at;
  pods.insert(at, pod);
}

std::optional<QueuedPod> PendingQueue::pop(Time now, const RunTime& run_time) {
  Lane* const lane = order_ == QueueOrder::shortest_first ? shortest_lane(now, run_time) : nullptr;
  const auto goes_first = [&](const QueuedPod& pod, const QueuedPod& in_lane) {
    if (pod.priority != in_lane.priority) return pod.priority > in_lane.priority;
    return now - in_lane.arrived <= longest_wait_;  // nobody waits for others for ever
  };
  if (!by_arrival_.empty() && (!lane || goes_first(by_arrival_.top(), lane->pods.front()))) {
    const QueuedPod first = by_arrival_.top();
    by_arrival_.pop();
    --size_;
    return first;
  }
  if (!lane) return std::nullopt;
  const QueuedPod first = lane->pods.front();
  lane->pods.pop_front();
  --size_;
  return first;
}

PendingQueue::Lane* PendingQueue::shortest_lane(Time now, const RunTime& run_time) {
  Lane* best = nullptr;
  double best_time = 0;
  for (Lane& lane : lanes_) {
    if (lane.pods.empty() || lane.held) continue;
    const QueuedPod& front = lane.pods.front();
    const bool waited_long = now - front.arrived > longest_wait_;
    const double time = waited_long ? -to_seconds(now - front.arrived) : run_time(front.pod);
    const QueuedPod* rival = best ? &best->pods.front() : nullptr;
    const bool better = !rival || front.priority > rival->priority ||
                        (front.priority == rival->priority &&
                         (time < best_time || (time == best_time && front.sequence < rival->sequence)));
    if (!better) continue;
    best = &lane;
    best_time = time;
  }
  return best;
}

void PendingQueue::hold(const QueuedPod& pod) {
  holding_ = true;
  if (goes_by_arrival(pod)) {
    held_.push_back(pod);
    return;
  }
  push(pod);
  lanes_[pod.workload.slot].held = true;
}

void PendingQueue::release_held() {
  if (!holding_) return;
  holding_ = false;
  for (const QueuedPod& pod : held_) push(pod);
  held_.clear();
  for (Lane& lane : lanes_) lane.held = false;
}

}  // namespace evenkeel::scheduling
