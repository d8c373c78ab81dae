#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/live_learning.h"
#include "apps/live_observer.h"
#include "apps/live_stage.h"
#include "apps/live_usage.h"
#include "base/result.h"
#include "control/control_loop.h"
#include "kubernetes/api_connection.h"
#include "kubernetes/kubernetes_world.h"
#include "kubernetes/leader_election.h"
#include "kubernetes/scheduler_configuration.h"
#include "scheduling/policies/registry.h"

namespace evenkeel::apps {

// Whom a scheduler acts for, where it does not elect itself and others are asked before it decides: the
// agents of a distributed scheduler (apps/live_agent.h). Outlives the scheduler.
struct LiveCounsel {
  std::function<bool()> leads;  // whether it may act; asked before every write
  // The policy of a profile becomes the rule of one that asks.
  std::function<std::unique_ptr<scheduling::PlacementPolicy>(std::unique_ptr<scheduling::PlacementPolicy>)>
      advise;
  std::function<bool()> is_full;                                      // nobody else is to be asked about now
  std::function<std::optional<kubernetes::Annotation>()> annotation;  // of every binding
};

struct LiveOptions {
  kubernetes::SchedulerConfiguration configuration;
  scheduling::PolicyModels models;
  bool shadow = false;    // decides, records, never writes
  bool events = true;     // Events for people
  bool annotate = false;  // evenkeel.io/decision on what is bound
  // Among those who elect a leader, should the configuration say so; empty: leads without asking.
  std::string identity;
  std::string host;                     // named in Events as who reports
  std::vector<std::string> namespaces;  // whose waiting pods are ours; none: everybody's
  std::optional<LabelSelector> nodes;   // which nodes are ours; none: all
  kubernetes::WireFormat bodies = kubernetes::WireFormat::json;  // of bindings and Events
  std::string state;                         // the folder for what is to survive; none: nothing does
  training::OnlineLearner::Options learner;  // of each policy that learns
  std::uint64_t seed = 1;
  LiveObserver* observer = nullptr;
  const LiveCounsel* counsel = nullptr;  // none: it elects and decides by itself
  LiveUsage* usage = nullptr;            // what nodes use, and what workloads did; none: nobody says
  std::function<void(const std::string&)> log = [](const std::string&) {};
};

// A scheduler at work on an API server: world, leader election, decisions and policies, joined. Runs in
// turns, on whatever connection it is given: a network, or a simulated server with a clock of its own.
//
// A standby follows the cluster as the leader does, so that its belief is warm, but asks nobody and writes
// nothing. Having won the lease it lists the pods once more before it decides: what its predecessor bound
// last may not have reached it yet.
class LiveScheduler {
 public:
  // Errors name what is wrong with the configuration.
  static Result<std::unique_ptr<LiveScheduler>> open(kubernetes::ApiConnection& connection,
                                                     LiveOptions options);
  ~LiveScheduler();
  LiveScheduler(const LiveScheduler&) = delete;
  LiveScheduler& operator=(const LiveScheduler&) = delete;

  // Waits until something happens, at most until the deadline, and does all it leads to. False: stopped.
  bool turn(Time deadline);
  // Decides nothing more from here on. Finishes what is under way and gives up the lease, for so long at
  // most.
  void stop(Duration at_most);

  bool synced() const { return world_.synced(); }
  bool leading() const {
    if (options_.counsel) return options_.counsel->leads();
    return !election_ || election_->leads();
  }
  bool deciding() const { return synced() && leading() && is_fresh_ && stage_->ready(connection_.now()); }
  const scheduling::Scheduler& scheduler() const { return scheduler_; }
  const kubernetes::KubernetesWorld& world() const { return world_; }
  LiveLearning& learning() { return *learning_; }
  const scheduling::PlacementPolicy& policy(std::size_t profile) const { return *profiles_[profile].policy; }
  // For whoever waits in its stead: whether a turn would find something, when it deserves one all the same,
  // and that what held pods wait for has come.
  bool has_events() const { return world_.has_events(); }
  Time wake_at() const;
  void look_at_held() { scheduler_.look_at_held(); }
  void report(const NodeReport& report) { world_.report(report, connection_.now()); }
  // As if the world had told it: for tests, and for whoever has facts that the world does not.
  void inject(const ClusterEvent& event, Time now) { scheduler_.observe(event, now); }

 private:
  class Watched;
  LiveScheduler(kubernetes::ApiConnection& connection, LiveOptions options,
                std::unique_ptr<LiveLearning> learning, std::vector<scheduling::PolicySetup> profiles);

  void follow_leadership();
  bool only_follow(Time deadline);
  void note(const scheduling::PlacementRequest& request, std::optional<NodeId> node);
  void tell_traffic();
  void make_stage();

  kubernetes::ApiConnection& connection_;
  LiveOptions options_;
  std::unique_ptr<LiveLearning> learning_;  // outlives the policies, which use it
  std::vector<scheduling::PolicySetup> profiles_;
  LiveObserver silent_;
  LiveObserver& observer_;
  kubernetes::KubernetesWorld world_;
  std::unique_ptr<Watched> watched_;
  scheduling::Scheduler scheduler_;
  std::unique_ptr<control::ControlLoop> loop_;
  std::unique_ptr<LiveStage> stage_;
  std::unique_ptr<kubernetes::LeaderElector> election_;  // none: nobody to agree with
  Time begun_{}, told_traffic_{};
  bool was_synced_ = false, was_leading_ = false, was_deciding_ = false;
  bool is_fresh_ = false;   // every pod is known as it was when the lease was won, or later
  std::uint64_t term_ = 0;  // a refresh that was asked for in an earlier one says nothing
};

}  // namespace evenkeel::apps
