#include "training/references.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/spelling.h"
#include "scheduling/policies/simple.h"
#include "training/clairvoyant.h"

namespace evenkeel::training {
namespace {

// Reads a pod's life off the plan it follows.
class PlanForesight final : public prediction::Foresight {
 public:
  double life_s(PodId pod) const override {
    const simulator::PodPlan* plan = world_ ? world_->plan_of(pod) : nullptr;
    if (!plan || plan->behaviour->kind == simulator::Behaviour::Kind::endless) return -1;
    return plan->behaviour->ideal_seconds();
  }
  void attach(const simulator::SimulatedWorld& world) { world_ = &world; }

 private:
  const simulator::SimulatedWorld* world_ = nullptr;
};

using optimum::Objective;
Objective means(const simulator::WorldPlan&) { return Objective::imbalance_of_means; }
Objective response(const simulator::WorldPlan&) { return Objective::mean_response; }

struct Reference {
  std::string_view name;
  std::string_view base;  // the policy it is, but for what it knows
  Objective (*objective)(const simulator::WorldPlan&) =
      nullptr;  // of a plan made beforehand; none: told lives
};
// To add a reference: add its line.
constexpr std::array kReferences = {
    Reference{"clairvoyant", "kube-default", natural_objective},
    Reference{"clairvoyant-means", "kube-default", means},
    Reference{"clairvoyant-response", "kube-default", response},
    Reference{"horizon-known", "horizon"},
    Reference{"shortest-first-known", "shortest-first"},
    Reference{"optimum", "kube-default"},
};

std::string_view base_name(std::string_view policy) { return policy.substr(0, policy.find('+')); }

const Reference* reference_of(std::string_view policy) {
  const auto* found = std::find_if(kReferences.begin(), kReferences.end(),
                                   [&](const Reference& r) { return r.name == base_name(policy); });
  return found == kReferences.end() ? nullptr : found;
}

// "horizon-known+moves" → "horizon+moves"; what is no reference unchanged.
std::string without_foresight(std::string_view policy) {
  const Reference* reference = reference_of(policy);
  if (!reference) return std::string(policy);
  return std::string(reference->base) + std::string(policy.substr(reference->name.size()));
}

}  // namespace

void PreparedPolicy::attach(const simulator::SimulatedWorld& world, scheduling::Scheduler& scheduler) {
  if (!foresight) return;
  static_cast<PlanForesight&>(*foresight).attach(world);
  scheduler.set_foresight(foresight.get());
}

std::vector<std::string_view> reference_names() {
  std::vector<std::string_view> names;
  for (const Reference& reference : kReferences) names.push_back(reference.name);
  return names;
}

bool is_reference(std::string_view policy) { return reference_of(policy) != nullptr; }

Status check_policy(std::string_view policy, const scheduling::SchedulingOptions& options,
                    const scheduling::PolicyModels& models) {
  const Result<scheduling::PolicySetup> setup =
      scheduling::set_up_policy(without_foresight(policy), options, models);
  if (setup) return {};
  const std::vector<std::string_view> causal = scheduling::policy_names(), references = reference_names();
  std::vector<std::string_view> all = causal;
  all.insert(all.end(), references.begin(), references.end());
  const std::string_view name = base_name(policy);
  if (std::find(all.begin(), all.end(), name) != all.end()) return setup.error();  // a switch is wrong
  return not_found("no placement policy is called '" + std::string(name) + "'; there are " + joined(causal) +
                   " and, seeing the future, " + joined(references) + did_you_mean(name, all));
}

PreparedPolicy prepare_policy(std::string_view policy, const scheduling::SchedulingOptions& options,
                              const simulator::WorldPlan& plan, std::uint64_t seed,
                              const scheduling::PolicyModels& models) {
  Result<scheduling::PolicySetup> setup =
      scheduling::set_up_policy(without_foresight(policy), options, models);
  EVENKEEL_CHECK(setup);  // check_policy came first
  PreparedPolicy prepared{std::move(*setup), nullptr};
  prepared.setup.name = policy;
  const Reference* reference = reference_of(policy);
  if (!reference) return prepared;
  if (reference->objective) {
    prepared.setup.policy = std::make_unique<scheduling::PlannedPlacement>(
        clairvoyant_plan(plan, prepared.setup.options, reference->objective(plan), seed));
  } else {
    prepared.foresight = std::make_unique<PlanForesight>();
  }
  return prepared;
}

}  // namespace evenkeel::training
