#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "kubernetes/scheduler_configuration.h"
#include "scheduling/policies/registry.h"
#include "training/online_learner.h"

namespace evenkeel::apps {

// The learners of a live scheduler, a thread each, and where they keep what they learnt: <state>/learned/
// <policy>.checkpoint. Policies made here must not outlive it.
class LiveLearning {
 public:
  struct Options {
    std::string state{};  // a folder; none: nothing survives
    std::uint64_t seed = 1;
    training::OnlineLearner::Options learner{};  // but for where its checkpoint lies
    std::function<void(const std::string&)> log = [](const std::string&) {};
  };
  explicit LiveLearning(Options options) : options_(std::move(options)) {}

  // Puts a policy that learns on the cluster in the place of the setup's, where the profile wants that. An
  // error where its policy is none that can.
  Status begin(const kubernetes::SchedulerProfile& profile, const scheduling::PolicyModels& models,
               scheduling::PolicySetup& setup);

  void turn();  // passes on what the learners have to say; never waits
  void stop();  // lets them finish and write their last checkpoints

  std::size_t learners() const { return learners_.size(); }
  training::OnlineLearner& learner(std::size_t i) { return *learners_[i].learner; }

 private:
  struct Named {
    std::string policy;
    std::unique_ptr<training::OnlineLearner> learner;
  };
  Result<training::OnlineLearner*> start(const std::string& policy,
                                         std::unique_ptr<training::Student> student);

  Options options_;
  std::vector<Named> learners_;
};

}  // namespace evenkeel::apps
