#pragma once
#include <array>
#include <deque>
#include <map>
#include <variant>
#include <vector>

#include "cluster/cluster_state.h"
#include "cluster/world.h"
#include "prediction/workload_history.h"
#include "scheduling/group_order.h"
#include "scheduling/group_replay.h"
#include "scheduling/nominations.h"
#include "scheduling/options.h"
#include "scheduling/parked_pods.h"
#include "scheduling/pending_queue.h"
#include "scheduling/placement_request.h"
#include "scheduling/preemption.h"
#include "scheduling/rebalancer.h"
#include "scheduling/rejection_memo.h"

namespace evenkeel::scheduling {

struct NothingToDo {};
using Next = std::variant<NothingToDo, PlacementRequest, Action>;

// How many pods wait, and where (kube-scheduler's scheduler_pending_pods).
struct QueueDepths {
  std::size_t active = 0, backing_off = 0, unschedulable = 0, gated = 0;
};

// Turns facts into questions and answers into actions. Does no I/O, reads no clock, owns
// no thread: whoever holds it decides where questions are answered: a policy in
// production, a learner in training, a test in a test.
//
//          gates removed
//   gated ──────┐    ┌──── back-off over, or nobody else waits ── released ◀── a change that may help
//               ▼    ▼                                                                  │
//   added ─▶  queue ─next─▶ question ─commit─▶ assumed ─PodBound─▶ bound                │
//               ▲              │ no node           │ BindFailed                         │
//               │              └──▶ parked ────────┼────────────────────────────────────┘
//               └─────────── back-off over ◀── failed
//
// A parked pod is one that no node would take, perhaps with a node promised to it where others are being
// ended. Changes that may help are those that the filters which rejected it wait for (queueing_hints.h).
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
  // Something that held pods wait for, and that no fact tells of, has come about: they are asked about again.
  void look_at_held();
  // What becomes of an eviction that a policy asks for. With rules for moves: a move within their budget, to
  // a place that is reserved first, or nothing. Without: as asked.
  std::optional<EvictPod> admit(EvictPod eviction, std::size_t profile, Time now);
  Time wake_at() const;  // when next deserves to be asked again, should nothing happen

  const ClusterState& cluster() const { return cluster_; }
  const prediction::WorkloadHistory& history() const { return history_; }
  const SchedulingOptions& options(std::size_t profile = 0) const { return profiles_[profile].options; }
  std::size_t profiles() const { return profiles_.size(); }
  std::optional<std::size_t> profile_of(const PodSpec& spec) const;  // none: somebody else's pod
  std::size_t pending() const { return waiting_; }
  std::size_t parked() const { return parked_.size(); }  // of those, the ones no node would take
  QueueDepths depths() const;
  std::uint32_t attempts(PodId pod) const;  // that failed so far
  const Nominations& nominations() const { return nominations_; }
  std::size_t planned() const { return planned_.size(); }  // waiting pods with a place in their group's plan
  // What a store kept of workloads' earlier pods; before anything is observed of them.
  void restore(std::span<const std::pair<WorkloadId, WorkloadPast>> pasts) { history_.restore(pasts); }
  // References only: what a pod's life will be, from somebody who knows.
  void set_foresight(const prediction::Foresight* foresight) { history_.set_foresight(foresight); }

 private:
  // By then a victim's end is under way, or nobody heard the order.
  static constexpr Duration kOrderHeard{std::chrono::seconds{30}};
  enum class Where : std::uint8_t {
    nowhere,  // it does not wait, or not for us
    gated,
    queued,    // in the queue, held back or asked about
    failed,    // its binding failed: it waits for its back-off
    released,  // something may have helped it: likewise, unless nobody else waits
    parked,
    shelved,    // it asks for what is not honoured, until it is changed
    unsettled,  // its node is gone, and how its binding ended is not known yet
  };
  struct PerPod {
    QueuedPod queued;
    std::size_t profile = 0;
    Time tried{};                                   // last, when it failed
    std::uint32_t attempts = 0;                     // that failed
    ParkedPods::GroupId group = ParkedPods::kNone;  // where it is parked, or was sent from
    Where where = Where::nowhere;
    bool ours = false;  // some profile serves it
  };
  struct Retry {
    Time at{};
    PodId pod;
    std::uint32_t ticket = 0;
    std::uint64_t sequence = 0;
    bool operator>(const Retry& other) const {
      return at != other.at ? at > other.at : sequence > other.sequence;
    }
  };
  using Retries = std::priority_queue<Retry, std::vector<Retry>, std::greater<>>;
  struct Reservation {
    NodeId node;
    std::shared_ptr<const PodTemplate> shape;
    Demand demand;
    Time until{};
    PodId moved;  // whose successor it is for
  };
  // Pods that are being ended for another one. Until they are gone, or the order is taken for lost, no more
  // are ended for it.
  struct Order {
    NodeId node;
    std::vector<PodId> victims;
    Time until{};
  };
  // The place that a member of a group is planned to have, promised to it meanwhile.
  struct Planned {
    NodeId node;
    Time until{};
    std::size_t mates = 0;  // planned with it
  };
  // A plan that left pods without a place. Nothing has happened since: another would, too.
  struct FailedPlan {
    std::uint64_t epoch = 0;
    std::vector<PodId> waiting;
    std::string why;
  };
  // What happened, for those who wait: where, and to whom.
  struct Happening {
    Changes changes = 0;
    std::optional<NodeId> node{};
    const PodTemplate* pod = nullptr;
    const ClusterObject* object = nullptr;
  };

  // Facts: scheduler_events.cpp.
  void node_set(const Node& node, Time now);
  void node_removed(NodeId node, Time now);
  void enroll(const Pod& pod);
  void pod_added(const Pod& pod, Time now);
  void pod_found(const Pod& pod, NodeId node, Time now);
  void pod_bound(const PodBound& bound, Time now);
  void pod_updated(const Pod& pod, Time now);
  void waiting_pod_updated(const Pod& pod, Time now);
  void pod_gone(const PodGone& gone, Time now);
  void bind_failed(PodId pod, Time now);
  void object_changed(const ClusterObject& object, bool gone, Time now);
  void usage_reported(const UsageReported& report, Time now);
  void doubt_old_samples(Time now);
  void forget_assumption(PodId pod, Time now);
  void placed(const PodTemplate& shape, NodeId node, Time now);
  void freed(const PodTemplate& shape, NodeId node, Time now);
  void look_again_at_promised(NodeId node, Time now);
  Demand expected_use(const PodRecord& record) const;

  // Who waits where: scheduler_queue.cpp.
  PerPod& per_pod(PodId pod);
  void put(PerPod& own, Where where);
  const SchedulingOptions& options_for(PodId pod) { return profiles_[per_pod(pod).profile].options; }
  bool goes_by_run_time(const Pod& pod);
  bool stand_in_line(const Pod& pod);  // true: elsewhere than before
  void stand_anew(const AppGroup& group);
  void enqueue(PodId pod);
  void wait_until(PodId pod, Where where, Time at);
  void take_due(Retries& retries, Time now);
  void stop_waiting(PodId pod, Time now);
  void leave_group(PodId pod, Time now);
  void park(const Pod& pod, FilterSet rejected_by, const std::string& why, Time now);
  void release(ParkedPods::GroupId group, Time now);
  void release_alone(PodId pod, Time now);
  void happened(const Happening& what, Time now);
  bool would_do(ParkedPods::GroupId group, NodeId node);
  ParkedPods::Key key_of(const Pod& pod);
  void nominate(const Pod& pod, const std::string& before, Time now);
  void promise(PodId pod, NodeId node);
  void drop_nomination(PodId pod, Time now);
  void drop_order(PodId pod);
  void victim_gone(PodId victim, Time now);
  void give_up_late_orders(Time now);
  void release_volumes(PodId pod, Time now);
  bool take_reservation(const Pod& pod, const Demand& demand);
  void drop_reservations(Time now);
  EvictPod begin_move(const Move& move, bool dry_run, Time now);
  void evict_failed(PodId pod, Time now);

  // Groups: scheduler_groups.cpp.
  const AppGroup* joint_group_of(const Pod& pod);
  std::optional<Next> look_at_member(const Pod& pod, Time now);
  std::optional<Next> look_at_lined_up(Time now);
  std::optional<Next> take_planned_place(const Pod& pod, Time now);
  std::vector<PodId> waiting_members(const AppGroup& group, const Pod& asked);
  std::optional<std::string> plan_members(const AppGroup& group, const Pod& asked, Time now);
  ReplayedPlan search_plan(const GroupViewInput& input, const std::vector<std::optional<NodeId>>& before,
                           bool gang, Time now);
  void promise_places(const std::vector<std::optional<NodeId>>& places, const std::vector<PodId>& waiting,
                      Time now);
  void drop_plan(PodId pod, Time now);
  void drop_late_plans(Time now);
  Next wait_for_mates(const Pod& pod, const std::string& why, Time now);

  // Questions and answers: scheduler.cpp.
  void bring_back(Time now);
  std::optional<QueuedPod> pop(Time now);
  bool still_waits(const QueuedPod& queued);
  Next look_at(const Pod& pod, Time now);
  bool find_feasible(const Pod& pod, const Demand& demand);
  bool may_go_to_promised_node(const Pod& pod, const FilterInput& input);
  void heed_nominations(const FilterInput& input);
  void sample_nodes(std::int32_t percentage);
  RejectionMemo::Rejection reject(const FilterInput& input);
  Action give_up(const Pod& pod, const Demand& demand, Time now);
  bool awaits_victims(const FilterInput& input);
  Action order(const Pod& pod, Victims victims, std::string why, Time now);

  std::vector<SchedulerProfile> profiles_;
  QueueOptions queue_options_;
  ClusterState cluster_;
  prediction::WorkloadHistory history_;
  RunEstimates runs_;
  PendingQueue queue_;
  GroupOrder group_order_;
  std::vector<Rebalancer> rebalancers_;  // one per profile
  std::vector<PerPod> per_pod_;          // by PodId::slot
  std::array<std::size_t, 8> depths_{};  // by Where
  ParkedPods parked_;
  Retries failed_, released_;
  std::vector<Reservation> reservations_;
  Nominations nominations_;
  RejectionMemo memo_;
  std::map<PodId, Order> orders_;                         // by whom they are ended for
  std::map<PodId, PodId> ended_for_;                      // victims of those orders
  std::map<PodId, std::vector<VolumeBinding>> promised_;  // to pods that are being bound, or are
  std::map<PodId, Planned> planned_;
  std::deque<PodId> lined_up_;                      // planned ones, in the order to be asked about
  std::map<std::string, FailedPlan> failed_plans_;  // by group
  std::uint64_t epoch_ = 1;                         // of what is known: grows with every fact and answer
  Time next_plan_end_ = Time::max();
  std::size_t first_sampled_ = 0;       // where the next look at some of the nodes begins
  std::vector<std::uint8_t> feasible_;  // lent to the open question
  std::size_t feasible_count_ = 0;
  std::uint64_t sequence_ = 0;
  std::size_t waiting_ = 0;                 // for us, not for somebody else
  bool counts_use_ = false;                 // some profile does
  Duration stale_after_ = Duration::max();  // the profiles' shortest
  Time next_doubt_ = Time::max();           // when the first of the nodes' samples may be too old
  Time next_held_look_ = Time::max();       // at held pods
  Time next_late_order_ = Time::max();      // to see whether an order was heard
};

}  // namespace evenkeel::scheduling
