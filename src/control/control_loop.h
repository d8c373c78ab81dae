#pragma once
#include <functional>
#include <span>
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
              Random random);
  // A policy for each of the scheduler's profiles, in their order; two profiles may share one.
  ControlLoop(World& world, scheduling::Scheduler& scheduler,
              std::span<scheduling::PlacementPolicy* const> policies, Random random);

  void watch_decisions(DecisionWatch watch) { decision_watch_ = std::move(watch); }
  void watch_actions(ActionWatch watch) { action_watch_ = std::move(watch); }

  bool turn() { return turn(Time::max()); }  // one batch of events and all it leads to; false: the end
  bool turn(Time deadline);                  // the same, waiting for events no longer than that
  // Turns until the world has passed `until`; false: it has ended.
  bool run_until(Time until);
  void run() {
    while (turn()) {
    }
  }

 private:
  // One policy, the first of the profiles that it answers for, and what it is to look back on.
  struct Adviser {
    scheduling::PlacementPolicy* policy;
    std::size_t profile;
    std::vector<scheduling::EndedPod> ended{};  // since its last review
  };

  void decide();
  void review(Adviser& adviser, Time now);
  void note_end(const PodGone& gone, Time now);
  Time next_review() const;

  World& world_;
  scheduling::Scheduler& scheduler_;
  std::vector<Adviser> advisers_;
  std::vector<std::size_t> adviser_of_;  // by profile
  Random random_;
  DecisionWatch decision_watch_;
  ActionWatch action_watch_;
};

}  // namespace evenkeel::control
