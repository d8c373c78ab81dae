#pragma once
#include <functional>
#include <vector>

#include "cluster/world.h"
#include "scheduling/policies/policy.h"
#include "scheduling/scheduler.h"

namespace evenkeel::control {

// Called after each decision, while the question is still open; nullopt: held back.
using DecisionWatch = std::function<void(const scheduling::PlacementRequest&, std::optional<NodeId>)>;
using ActionWatch = std::function<void(const Action&, Time)>;

// Where a question meets a policy and an action meets a World.
class ControlLoop {
 public:
  ControlLoop(World& world, scheduling::Scheduler& scheduler, scheduling::PlacementPolicy& policy,
              Random random)
      : world_(world), scheduler_(scheduler), policy_(policy), random_(random.fork("policy")) {}

  void watch_decisions(DecisionWatch watch) { decision_watch_ = std::move(watch); }
  void watch_actions(ActionWatch watch) { action_watch_ = std::move(watch); }

  bool turn();  // one batch of events and all it leads to; false: the world has ended
  // Turns until the world has passed `until`; false: it has ended.
  bool run_until(Time until);
  void run() {
    while (turn()) {
    }
  }

 private:
  void decide();
  void review(Time now);
  void note_end(const PodGone& gone, Time now);
  bool turn(Time deadline);

  World& world_;
  scheduling::Scheduler& scheduler_;
  scheduling::PlacementPolicy& policy_;
  Random random_;
  std::vector<scheduling::EndedPod> ended_;  // since the last review
  DecisionWatch decision_watch_;
  ActionWatch action_watch_;
};

}  // namespace evenkeel::control
