#pragma once
#include <map>
#include <variant>
#include <vector>

#include "cluster/cluster_state.h"
#include "cluster/world.h"
#include "prediction/workload_history.h"
#include "scheduling/options.h"
#include "scheduling/pending_queue.h"
#include "scheduling/placement_request.h"
#include "scheduling/preemption.h"
#include "scheduling/rebalancer.h"

namespace evenkeel::scheduling {

struct NothingToDo {};
using Next = std::variant<NothingToDo, PlacementRequest, Action>;

// Turns facts into questions and answers into actions. Does no I/O, reads no clock, owns
// no thread: whoever holds it decides where questions are answered: a policy in
// production, a learner in training, a test in a test.
//
//              ┌────────── something changed that may help ──────────┐
//              ▼                                                     │
//   added ─▶ queue ─next─▶ question ─commit─▶ assumed ─PodBound─▶ bound
//              ▲              │ no node           │ BindFailed
//              │              ▼                   ▼
//              └── backed off ◀── unschedulable / failed   (1 s, doubling to 10 s)
class Scheduler {
 public:
  explicit Scheduler(SchedulingOptions options);  // one profile for every pod, whatever scheduler it names
  // Each pod is placed by the profile that it names. Those that name none of them are somebody else's: on
  // record, and never asked about.
  explicit Scheduler(std::vector<SchedulerProfile> profiles, QueueOptions queue = {});

  void observe(const ClusterEvent& event, Time now);
  // The next question, or an action that needs no answer, or nothing. A question stays
  // open until commit or hold; it is a view of this object, valid until then.
  Next next(Time now);
  Action commit(const PlacementRequest& request, NodeId chosen);
  void hold(const PlacementRequest& request);
  Time wake_at() const;  // when next deserves to be asked again, should nothing happen

  const ClusterState& cluster() const { return cluster_; }
  const prediction::WorkloadHistory& history() const { return history_; }
  const SchedulingOptions& options(std::size_t profile = 0) const { return profiles_[profile].options; }
  std::size_t profiles() const { return profiles_.size(); }
  std::optional<std::size_t> profile_of(const PodSpec& spec) const;  // none: somebody else's pod
  std::size_t pending() const { return waiting_; }
  std::size_t parked() const { return parked_.size(); }  // of those, the ones no node would take
  // References only: what a pod's life will be, from somebody who knows.
  void set_foresight(const prediction::Foresight* foresight) { history_.set_foresight(foresight); }

 private:
  struct Retry {
    QueuedPod pod;
    Time at{};
    bool operator>(const Retry& other) const {
      return at != other.at ? at > other.at : pod.sequence > other.pod.sequence;
    }
  };
  struct PerPod {
    std::uint32_t attempts = 0;
    QueuedPod queued;
    std::size_t profile = 0;
    bool ours = false;  // some profile serves it
  };
  struct Reservation {
    NodeId node;
    std::shared_ptr<const PodTemplate> shape;
    Demand demand;
    Time until{};
  };

  void enroll(const Pod& pod);
  void pod_added(const Pod& pod, Time now);
  void pod_gone(const PodGone& gone, Time now);
  void usage_reported(const UsageReported& report, Time now);
  void back_off(PodId pod, Time now);
  void park(PodId pod, Time now);
  void node_improved(NodeId node, Time now);
  void forget_parked(PodId pod);
  Demand expected_use(const PodRecord& record) const;
  bool still_waits(const QueuedPod& queued) const;
  const SchedulingOptions& options_for(PodId pod) { return profiles_[per_pod(pod).profile].options; }
  QueuedPod queued_as(const Pod& pod, Time now);
  bool find_feasible(const Pod& pod, const Demand& demand);
  bool may_go_to_promised_node(const Pod& pod);
  void heed_nominations(const Pod& pod, const Demand& demand);
  void sample_nodes(std::int32_t percentage);
  Action give_up(const Pod& pod, const Demand& demand, Time now);
  void pod_updated(const Pod& pod, Time now);
  void nominate(const Pod& pod);
  void drop_nomination(PodId pod);
  void release_volumes(PodId pod);
  void others_changed(Time now);
  bool take_reservation(const Pod& pod, const Demand& demand);
  void drop_reservations(Time now);
  PerPod& per_pod(PodId pod);

  std::vector<SchedulerProfile> profiles_;
  QueueOptions queue_options_;
  ClusterState cluster_;
  prediction::WorkloadHistory history_;
  RunEstimates runs_;
  PendingQueue queue_;
  std::vector<Rebalancer> rebalancers_;  // one per profile
  std::vector<PerPod> per_pod_;          // by PodId::slot
  std::vector<QueuedPod> parked_;        // no node would do; waiting for one to improve
  std::priority_queue<Retry, std::vector<Retry>, std::greater<>> retries_;
  std::vector<Reservation> reservations_;
  std::vector<Nomination> nominations_;
  std::map<PodId, std::vector<VolumeBinding>> promised_;  // to pods that are being bound, or are
  std::size_t first_sampled_ = 0;                         // where the next look at some of the nodes begins
  std::vector<std::uint8_t> feasible_;                    // lent to the open question
  std::size_t feasible_count_ = 0;
  std::uint64_t sequence_ = 0;
  std::size_t waiting_ = 0;            // for us, not for somebody else
  Time next_flush_ = Time::max();      // of parked pods
  Time next_held_look_ = Time::max();  // at held ones
};

}  // namespace evenkeel::scheduling
