#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "autoscaling/behaviour.h"
#include "autoscaling/guard.h"
#include "autoscaling/placement.h"
#include "autoscaling/replica_calculator.h"
#include "autoscaling/scaling_request.h"
#include "autoscaling/service_past.h"
#include "cluster/scaling_world.h"

namespace evenkeel::autoscaling {

struct AutoscalerOptions {
  CalculatorOptions calculator{};  // of the fallback
  PastOptions past{};
  // A scaling of which nothing was heard is taken for lost after that; what a look shows counts before.
  Duration lost_after{std::chrono::seconds{30}};
  bool preview = false;  // whatever the specs say: recommends, never scales
};

// Keeps what is known of every scaled workload, says when to ask about which, and makes of an answer an
// action within bounds, behaviour and guard rails. Knows no clock, no policy and no cluster.
//
//   fresh report, once due ──► next(): question ──► commit(): ScaleWorkload ──► asked: counts at once
//          ▲                                                                        │
//          ├────────────── Scaled, or a later look that shows it: counts ◄──────────┤
//          └── ScaleFailed, or nothing heard: what a later look shows counts ◄──────┘
//
// A scaling always names what it found (`from`), so one that was decided on an old look cannot be done, and
// one whose answer was lost cannot be done twice.
class Autoscaler {
 public:
  explicit Autoscaler(AutoscalerOptions options = {});

  void observe(const ScalingEvent& event, Time now);
  // The next workload that is due; nothing: none is before wake_at(). The view holds until the answer.
  std::optional<ScalingRequest> next(Time now);
  // Always tells the decision, and scales where it changes something and may.
  std::vector<ScalingAction> commit(const ScalingRequest& request, Recommendation recommendation);
  // When next() may have something to ask though nothing happens.
  Time wake_at() const;

  // Who knows whether replicas find a node and who had better leave; not owned. None: nobody is asked.
  void ask_about_nodes(PlacementAdviser* adviser) { placement_ = adviser; }

  // The fence between two instances: scales only before `until`, and says so in every ScaleWorkload. Whoever
  // got it back after it had run out begins anew, from what is seen then.
  void hold_lease(Time until, Time now);

  const ScalerSpec* spec_of(ScalerId scaler) const;
  // What it is set to, as far as is known: what was last asked for counts at once.
  std::optional<std::int32_t> wanted_of(ScalerId scaler) const;
  std::size_t size() const { return known_; }

 private:
  // A scaling on its way, or one of which nobody knows what became of it.
  struct Asked {
    std::int32_t from = 0, to = 0;
    Time at{};
    bool ruled = false;            // there was a behaviour to count it
    std::optional<Time> failed{};  // when we were told so
    bool counted = true;           // against the limits of the behaviour
  };
  struct Workload {
    ScalerId id{};
    bool there = false;
    ScalerSpec spec{};
    std::optional<ServiceReport> report{};
    ServicePast past{};
    BehaviourMemory memory{};
    std::int32_t set_to = 0;        // spec.replicas as last seen or confirmed
    Time set_seen = Time::min();    // older looks say nothing of it
    Time look_after = Time::min();  // only on a look later than that is it acted
    std::optional<Asked> asked{};   // counts until it is confirmed, refused or lost
    std::vector<Asked> doubtful{};  // refused or lost: may turn out to have been done
    std::string rival{};
    std::optional<std::int32_t> room{};
    Time room_seen{};
    bool slept = false;           // has no replicas, by our doing
    Time due{};                   // about then a report leads to a question
    Time deadline{};              // without one: then
    Time answered = Time::min();  // when the last report led to a question
    bool queued = false;
  };

  void set(const ScalerSet& event, Time now);
  void drop(ScalerId scaler);
  void take(Workload& workload, const ServiceReport& report, Time now);
  void settle_asked(Workload& workload, const ServiceReport& report, Time now);
  static void hear_of(Workload& workload, std::int32_t replicas, Time now);
  static void set_to(Workload& workload, const Asked& done);
  static void confirm(Workload& workload);
  static void give_up(Workload& workload, std::optional<Time> failed = {});
  static void count(Workload& workload, const Asked& done);
  void fail(Workload& workload, bool refused, Time now);
  static void begin_anew(Workload& workload, Time now);
  void schedule(Workload& workload, Time after);
  void set_due(Workload& workload, Time due);
  Workload* find(ScalerId scaler);
  const Workload* find(ScalerId scaler) const;
  static std::int32_t wanted(const Workload& workload);

  // The answer under all rules; what it was before is told in the decision's reasons.
  std::int32_t decide(Workload& workload, const ScalingRequest& request, Recommendation recommendation,
                      ScalingDecision& decision) const;
  std::int32_t hold_to_room(const ScalingRequest& request, std::int32_t to, ScalingDecision& decision) const;
  std::vector<std::string> name_leavers(const ScalingRequest& request, ScalingDecision& decision) const;
  struct Refusal {
    std::string rule, why;
  };
  std::optional<Refusal> why_not_act(const Workload& workload, Time now) const;

  AutoscalerOptions options_;
  std::vector<Workload> workloads_;  // by slot
  std::size_t known_ = 0;
  std::set<std::pair<Time, std::uint32_t>> deadlines_;  // when a question is asked though no report came
  std::deque<std::uint32_t> ready_;
  Time lease_until_ = Time::max();
  PlacementAdviser* placement_ = nullptr;
};

}  // namespace evenkeel::autoscaling
