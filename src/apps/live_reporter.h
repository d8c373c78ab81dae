#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "apps/guard_metrics.h"
#include "apps/learning_metrics.h"
#include "apps/live_metrics.h"
#include "apps/live_observer.h"
#include "reporting/decision_journal.h"
#include "reporting/status_server.h"

namespace evenkeel::apps {

// What a live scheduler does, as journal, metrics and health. Told by the scheduler's thread; journal,
// metrics and checks may be read by any other.
//
// A decision's best candidates and their scores cost about as much as the decision itself, since every plugin
// has to score every node once more. They are written down for as many decisions as fit into `explain_share`
// of the time: all of them on a quiet cluster, a sample in a burst (ADR 0010).
class LiveReporter final : public LiveObserver {
 public:
  struct Options {
    reporting::DecisionJournal::Options journal{};
    std::size_t candidates = 3;      // written down per decision; 0: none
    double explain_share = 0.01;     // of the scheduler's time
    bool shadow = false;             // nothing that is decided gets done
    std::string lease = "evenkeel";  // what leadership is about
    std::string api_server{};        // its host and port, as requests are counted by
    // Without a turn for so long it is taken for stuck, and for so long while leading: the lease is lost.
    Duration stuck_after{std::chrono::seconds{60}}, lease_lost_after{std::chrono::seconds{15}};
    // What was asked of the server, where whoever carries does not tell.
    std::function<std::map<LiveTraffic::Request, std::uint64_t>()> requests{};
    // Time that only goes forwards; the system's, unless a test has its own.
    std::function<Duration()> clock{};
  };
  explicit LiveReporter(Options options);

  const reporting::DecisionJournal& journal() const { return journal_; }
  std::string metrics_text();  // from one thread at a time
  std::vector<reporting::HealthCheck> live_checks() const, ready_checks() const;
  std::string configuration() const;                                     // JSON: the profiles that are served
  void stopping() { stopping_.store(true, std::memory_order_relaxed); }  // ready no more

  void serves(std::span<const LiveProfile> profiles) override;
  void began(const scheduling::Scheduler& scheduler, Time now) override;
  void woke(Time now) override;
  void decided(const scheduling::PlacementRequest& request, std::optional<NodeId> node,
               Duration took) override;
  void acted(const Action& action, Time now) override;
  void observed(const ClusterEvent& event, Time now) override;
  void turned(const scheduling::Scheduler& scheduler, Time now) override;
  void led(bool leading, Time now) override;
  void synced(bool whole, Time now) override;
  void carried(const LiveTraffic& traffic) override;
  void ended() override;

 private:
  // Of a pod that waits or is being bound, by its slot.
  struct Notes {
    PodId pod{};
    Time queued{};            // when it was there to be scheduled: gates are not our delay
    Time decided{};           // of the binding under way
    std::uint64_t entry = 0;  // in the journal; 0: none under way
    Duration took{};
    NodeId node{};
    std::uint32_t attempts = 0;
    std::uint32_t profile = 0;
    bool gated = false;
    std::vector<reporting::Gauge*> objectors{};  // of the plugins that rejected it last
  };
  struct ProfileSeries {
    LiveProfile profile;
    reporting::Counter *scheduled, *unschedulable, *error;
    reporting::Histogram *scheduled_seconds, *unschedulable_seconds, *error_seconds;
  };

  Notes* notes_of(PodId pod);
  Notes& start_notes(const Pod& pod, Time now);
  std::uint32_t profile_of(const Pod& pod);
  std::uint32_t add_profile(const LiveProfile& profile);
  ProfileSeries& series(const Notes& notes) { return profiles_[notes.profile]; }
  reporting::JournalEntry entry_about(const Pod& pod, const Notes& notes, Time now) const;
  void write_candidates(const scheduling::PlacementRequest& request, NodeId chosen, std::uint32_t profile,
                        reporting::JournalEntry& entry);
  bool may_explain();
  void preempting(const PreemptPods& action, Time now);
  void found_no_node(PodId pod, const std::string& why, reporting::JournalEntry entry);
  void settle(Notes& notes, reporting::BindingOutcome outcome, const std::string& why, Time now);
  void blame(Notes& notes, std::string_view plugin);
  void forgive(Notes& notes);
  void pod_added(const Pod& pod, Time now);
  void pod_updated(const Pod& pod, Time now);
  void pod_bound(const PodBound& bound, Time now);
  Duration since_last_step();

  Options options_;
  reporting::MetricsRegistry registry_;
  LiveMetrics metrics_;
  GuardMetrics guards_{registry_};
  LearningMetrics learning_{registry_};
  reporting::DecisionJournal journal_;
  const scheduling::Scheduler* scheduler_ = nullptr;
  std::vector<ProfileSeries> profiles_;
  std::vector<Notes> notes_;
  std::size_t in_flight_ = 0;
  Duration last_step_{};
  Duration explain_debt_{}, debt_at_{};

  std::atomic<Duration::rep> last_turn_{0};
  std::atomic<bool> leading_{false}, synced_{false}, stopping_{false};
};

}  // namespace evenkeel::apps
