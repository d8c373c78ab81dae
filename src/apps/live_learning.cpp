#include "apps/live_learning.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "scheduling/policies/drs_live.h"
#include "scheduling/policies/opt_in_order.h"
#include "scheduling/policies/ppo_lrt.h"

namespace evenkeel::apps {
namespace {

scheduling::LiveLearningOptions options_of(const kubernetes::LearningArguments& arguments) {
  scheduling::LiveLearningOptions options;
  options.explore.share = arguments.explore;
  options.explore.never_namespaces = arguments.never_explore_namespaces;
  options.explore.never_at_priority = arguments.never_explore_priority;
  options.reward_after = arguments.reward_after;
  return options;
}

std::shared_ptr<const learning::Model> model_of(const scheduling::PolicyModels& models,
                                                std::string_view policy) {
  const auto found = models.find(policy);
  return found == models.end() ? nullptr : found->second;
}

}  // namespace

Status LiveLearning::begin(const kubernetes::SchedulerProfile& profile,
                           const scheduling::PolicyModels& models, scheduling::PolicySetup& setup) {
  const std::string& spec = profile.evenkeel.policy;
  const std::string name = spec.substr(0, spec.find('+'));
  const scheduling::LiveLearningOptions live = options_of(profile.evenkeel.learning);
  std::unique_ptr<scheduling::PlacementPolicy> policy;
  if (std::optional<scheduling::DrsSettings> settings = scheduling::drs_settings(name)) {
    settings->reward_after = live.reward_after;
    auto learner = start(name, training::make_drs_student(*settings, model_of(models, name), options_.seed));
    if (!learner) return learner.error();
    policy = std::make_unique<scheduling::LiveDrs>(*std::move(settings), live, **learner);
  } else if (name == "ppo-lrt" || name == "ppo-lrt-ordered") {
    scheduling::PpoLrtOptions options;
    options.name = name;
    options.ordered = name == "ppo-lrt-ordered";
    if (options.ordered) options.pods_per_action = 1;
    options.settle = std::max(options.settle, live.reward_after);
    options.load_control = setup.options.moves.per_hour > 0;  // it ends pods, which is off unless asked for
    auto learner =
        start(name, training::make_ppo_lrt_student({.name = name}, model_of(models, name), options_.seed));
    if (!learner) return learner.error();
    policy = std::make_unique<scheduling::PpoLrt>(std::move(options), live, **learner);
  } else {
    return invalid("learning.online: policy '" + name +
                   "' does not learn while it places; those that do are the drs family, ppo-lrt and "
                   "ppo-lrt-ordered");
  }
  if (setup.options.order_opt_in.on) policy = std::make_unique<scheduling::OptInOrder>(std::move(policy));
  setup.policy = std::move(policy);
  return {};
}

Result<training::OnlineLearner*> LiveLearning::start(const std::string& policy,
                                                     std::unique_ptr<training::Student> student) {
  const bool taken = std::any_of(learners_.begin(), learners_.end(),
                                 [&](const Named& other) { return other.policy == policy; });
  if (taken) return invalid("learning.online: two profiles learn as '" + policy + "'; one may");
  training::OnlineLearner::Options options = options_.learner;
  if (options_.state.empty()) {
    options_.log(policy + " learns, and forgets it with this process: there is no --state");
  } else {
    const std::string folder = options_.state + "/learned";
    std::error_code failed;
    if (options.writes) std::filesystem::create_directories(folder, failed);
    // Not a reason not to schedule: the learner says so again when it first wants to write.
    if (failed) options_.log(folder + ": " + failed.message());
    options.checkpoint = folder + "/" + policy + ".checkpoint";
  }
  learners_.push_back(
      {policy, std::make_unique<training::OnlineLearner>(std::move(options), std::move(student))});
  turn();
  return learners_.back().learner.get();
}

void LiveLearning::turn() {
  for (const Named& named : learners_)
    for (const std::string& line : named.learner->take_news()) options_.log(named.policy + ": " + line);
}

void LiveLearning::stop() {
  for (const Named& named : learners_) named.learner->stop();
  turn();
}

}  // namespace evenkeel::apps
