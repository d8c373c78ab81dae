#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/profile.h"
#include "kubernetes/kubernetes_world.h"
#include "kubernetes/stage_watch.h"
#include "scheduling/policies/guarded.h"

namespace evenkeel::apps {

// A profile as a live cluster is to be served by it: a learned policy is wrapped in a guard, with `horizon`
// as its rule, and where its model cannot be had the rule serves from the start and says why. Moves get the
// rules that a cluster with owners, budgets and volumes needs.
Result<scheduling::PolicySetup> set_up_live_profile(const kubernetes::SchedulerConfiguration& configuration,
                                                    const kubernetes::SchedulerProfile& profile,
                                                    const scheduling::PolicyModels& models,
                                                    LiveLearning* learning = nullptr);

// Null: the policy is a rule.
scheduling::Guarded* guard_of(scheduling::PlacementPolicy& policy);

// Keeps guards at the stage that the ConfigMap says, and tells people when one falls back or comes back.
//
// Without a ConfigMap the configuration's stage holds. One that was there and is gone, or cannot be read,
// leaves nobody to say how far a learned policy may go: the rule decides until somebody does.
class LiveStage {
 public:
  struct Profile {
    std::string name;
    scheduling::Guarded* guard;
    scheduling::StageSettings configured;
  };
  struct Options {
    std::string name_space, lease;  // Events are about the lease: what there is of a scheduler in the API
    std::vector<Profile> profiles;  // those with a guard
  };
  using Log = std::function<void(const std::string&)>;
  // `heard` when a stage has come or changed: whoever waits had better look.
  LiveStage(kubernetes::ApiConnection& connection, Options options, Log log, std::function<void()> heard);

  void start();
  // Whether the stage is known, or has been waited for long enough.
  bool ready(Time now) const;
  // Once a turn: what changed, as Events.
  void tell(kubernetes::KubernetesWorld& world, Time now);

 private:
  struct Told {
    std::uint64_t falls = 0, returns = 0;
    bool healthy = true;
    Time last = Time::min();
  };
  void apply(const kubernetes::StageWatch::Seen& seen);
  void announce(kubernetes::KubernetesWorld& world, const Profile& profile) const;

  Options options_;
  Log log_;
  std::function<void()> heard_;
  std::vector<Told> told_;
  std::vector<std::string> last_said_;             // by profile, so that the log says what is new
  std::unique_ptr<kubernetes::StageWatch> watch_;  // none: nobody to follow it for
  Time begun_{};
  bool has_heard_ = false, was_there_ = false;
};

}  // namespace evenkeel::apps
