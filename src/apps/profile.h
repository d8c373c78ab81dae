#pragma once
#include <memory>

#include "base/result.h"
#include "kubernetes/scheduler_configuration.h"
#include "scheduling/policies/registry.h"

namespace evenkeel::apps {

// A profile of kube-scheduler's configuration as the deciding half knows it.
scheduling::Profile profile_of(const kubernetes::SchedulerConfiguration& configuration,
                               const kubernetes::SchedulerProfile& profile);

// The policy with the profile's plugins and weights. Where the profile enables `Evenkeel`, its policy's
// opinion, 0 to 100, is one more plugin's.
Result<scheduling::PolicySetup> set_up_profile(const kubernetes::SchedulerConfiguration& configuration,
                                               const kubernetes::SchedulerProfile& profile,
                                               const scheduling::PolicyModels& models = {});

}  // namespace evenkeel::apps
