#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "base/time.h"
#include "cluster/ids.h"
#include "scheduling/options.h"

namespace evenkeel::scheduling {

struct QueuedPod {
  PodId pod;
  std::int32_t priority = 0;
  std::uint64_t sequence = 0;  // order of first arrival, kept through every retry
  std::uint64_t anchor = 0;    // its group's place, where pods of groups stand together (group_order.h)
  std::int32_t rank = 0;       // within the group
  WorkloadId workload;
  Time arrived{};
  bool by_run_time = true;   // shortest-first: false for those that did not ask for it
  std::uint32_t ticket = 0;  // of its entries only that with the pod's latest ticket counts
};

// Pods that deserve a look now. Higher priority first; within a priority by arrival, or
// by expected run time, shortest first, with those that waited too long in front; where only
// some go by run time, the others go before them.
// Entries are not removed when a pod vanishes: whoever pops asks whether it still waits.
class PendingQueue {
 public:
  explicit PendingQueue(QueueOrder order, Duration longest_wait)
      : order_(order), longest_wait_(longest_wait) {}

  using RunTime = std::function<double(PodId)>;  // expected seconds; asked for shortest-first only
  void push(const QueuedPod& pod);
  std::optional<QueuedPod> pop(Time now, const RunTime& run_time);
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  // Shortest-first: the pod popped last had better wait, and so had its workload's others.
  void hold(const QueuedPod& pod);
  void release_held();
  bool holding() const { return holding_; }

 private:
  struct Later {
    bool operator()(const QueuedPod& a, const QueuedPod& b) const {
      if (a.priority != b.priority) return a.priority < b.priority;
      if (a.anchor != b.anchor) return a.anchor > b.anchor;
      return a.rank != b.rank ? a.rank > b.rank : a.sequence > b.sequence;
    }
  };
  struct Lane {
    std::deque<QueuedPod> pods;
    bool held = false;
  };

  bool goes_by_arrival(const QueuedPod& pod) const {
    return order_ == QueueOrder::arrival || !pod.by_run_time;
  }
  Lane* shortest_lane(Time now, const RunTime& run_time);

  QueueOrder order_;
  Duration longest_wait_;
  std::priority_queue<QueuedPod, std::vector<QueuedPod>, Later> by_arrival_;
  std::vector<QueuedPod> held_;
  std::vector<Lane> lanes_;  // by WorkloadId::slot
  std::size_t size_ = 0;
  bool holding_ = false;
};

}  // namespace evenkeel::scheduling
