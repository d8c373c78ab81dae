#pragma once
#include <memory>

#include "base/result.h"
#include "kubernetes/scheduler_configuration.h"
#include "scheduling/policies/registry.h"

namespace evenkeel::apps {

class LiveLearning;

// A profile of kube-scheduler's configuration as the deciding half knows it.
scheduling::Profile profile_of(const kubernetes::SchedulerConfiguration& configuration,
                               const kubernetes::SchedulerProfile& profile);

// What a user may not have meant, though it is done as written.
std::vector<std::string> warnings_of(const kubernetes::SchedulerConfiguration& configuration);

// The policy with the profile's plugins and weights. Where the profile enables `Evenkeel`, its policy's
// opinion, 0 to 100, is one more plugin's; a policy that learns on the cluster decides alone, since it must
// do what it learns from. Without anybody to learn with (`learning`), nothing does.
Result<scheduling::PolicySetup> set_up_profile(const kubernetes::SchedulerConfiguration& configuration,
                                               const kubernetes::SchedulerProfile& profile,
                                               const scheduling::PolicyModels& models = {},
                                               LiveLearning* learning = nullptr);

}  // namespace evenkeel::apps
