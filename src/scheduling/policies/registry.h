#pragma once
#include <map>
#include <memory>

#include "base/result.h"
#include "scheduling/policies/policy.h"

namespace evenkeel::learning {
struct Model;
}

namespace evenkeel::scheduling {

// A policy with the options it decides under.
struct PolicySetup {
  std::string name;  // as asked for
  std::unique_ptr<PlacementPolicy> policy;
  SchedulingOptions options;
};

// Trained models by the name of the policy that uses them. A learned policy without one starts from nothing.
using PolicyModels = std::map<std::string, std::shared_ptr<const learning::Model>, std::less<>>;

// A name with switches behind it: `horizon`, `kube-default+moves=12`, `horizon+by-use=1.5`.
//   +moves[=N]    with the rebalancer, at most N moves an hour (12)
//   +by-use[=R]   capacity counted by expected use plus R standard deviations (1)
//   +plugins[=W]  as one plugin of weight W (100) among kube-scheduler's (blended_scores.h)
//   +order        shortest first and held back, for pods that ask for it by label (opt_in_order.h)
//   +frozen       a learned policy neither learns on nor explores
// `options` are what the policy's own needs and the switches are laid over.
Result<PolicySetup> set_up_policy(std::string_view spec, SchedulingOptions options,
                                  const PolicyModels& models = {});

// A model its policy could not use in a cluster of so many nodes is refused by name.
Status check_node_count(std::string_view spec, const PolicyModels& models, std::size_t nodes);

// Names without switches, as users may type them.
std::vector<std::string_view> policy_names();

// Whether a policy, with or without switches, is learned rather than a rule.
bool is_learned(std::string_view policy);

}  // namespace evenkeel::scheduling
