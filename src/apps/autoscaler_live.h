#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apps/autoscaler_records.h"
#include "apps/autoscaler_room.h"
#include "apps/autoscaler_state.h"
#include "autoscaling/autoscaler.h"
#include "control/scaling_loop.h"
#include "kubernetes/leader_election.h"
#include "kubernetes/scaling_world.h"

namespace evenkeel::apps {

struct LiveAutoscalerOptions {
  bool preview = false;  // looks at everything, writes nothing
  std::string policy;    // decides instead of what the specs name
  bool events = true;
  bool elect = false;
  kubernetes::LeaderElector::Options election{};
  std::string host;   // named in Events as who reports
  std::string state;  // the folder for what is to survive; none: nothing does
  std::uint64_t seed = 1;
  bool asks_for_room = true;  // whether replicas fit, of the cluster's nodes and pods
  bool names_leavers = true;  // those without which nodes are balanced best
  control::PolicyMaker make_policy;
  std::function<void(const std::string&)> log = [](const std::string&) {};
};

// An autoscaler at work on an API server: world, leader election, decisions and policies, joined. Runs in
// turns on whatever connection it is given. A standby follows what there is, looks at nothing and writes
// nothing.
class LiveAutoscaler {
 public:
  LiveAutoscaler(kubernetes::ApiConnection& connection, kubernetes::ServiceMeter& meter,
                 LiveAutoscalerOptions options, ScalingRecords& records);
  ~LiveAutoscaler();
  LiveAutoscaler(const LiveAutoscaler&) = delete;
  LiveAutoscaler& operator=(const LiveAutoscaler&) = delete;

  // Waits until something happens, at most until the deadline, and does all it leads to. False: stopped.
  bool turn(Time deadline);
  // Decides nothing more; finishes what is under way and gives up the lease, for so long at most.
  void stop(Duration at_most);

  bool synced() const { return world_.synced(); }
  bool leading() const { return !election_ || election_->leads(); }
  const kubernetes::KubernetesScalingWorld& world() const { return world_; }
  control::ScalingLoop& loop() { return *loop_; }

 private:
  class Told;
  void follow_leadership();
  control::PolicyMaker policy_maker();
  void save_one();
  void save(ScalerId id);

  kubernetes::ApiConnection& connection_;
  LiveAutoscalerOptions options_;
  ScalingRecords& records_;
  std::unique_ptr<LiveRoom> room_;  // none: neither is asked for
  kubernetes::KubernetesScalingWorld world_;
  std::unique_ptr<Told> told_;
  autoscaling::Autoscaler autoscaler_;
  std::unique_ptr<control::ScalingLoop> loop_;
  std::unique_ptr<kubernetes::LeaderElector> election_;
  std::unique_ptr<ScalingStateFiles> state_;
  std::vector<ScalerId> to_save_;  // one a turn, so that nobody waits for a thousand files
  Time save_again_{};
  bool was_leading_ = false, was_synced_ = false, is_stopping_ = false;
};

}  // namespace evenkeel::apps
