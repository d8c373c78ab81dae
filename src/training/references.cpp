#include "training/references.h"

#include "base/check.h"

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

struct Known {
  std::string_view name, base;
};
constexpr Known kKnown[] = {{"horizon-known", "horizon"}, {"shortest-first-known", "shortest-first"}};

std::string_view base_name(std::string_view policy) { return policy.substr(0, policy.find('+')); }

// "horizon-known+moves" → "horizon+moves"; anything else unchanged.
std::string without_known(std::string_view policy) {
  for (const Known& known : kKnown)
    if (base_name(policy) == known.name) return std::string(known.base) + std::string(policy.substr(known.name.size()));
  return std::string(policy);
}

}  // namespace

void PreparedPolicy::attach(const simulator::SimulatedWorld& world, scheduling::Scheduler& scheduler) {
  if (!foresight) return;
  static_cast<PlanForesight&>(*foresight).attach(world);
  scheduler.set_foresight(foresight.get());
}

bool is_reference(std::string_view policy) {
  return base_name(policy) == "clairvoyant" || without_known(policy) != policy;
}

Status check_policy(std::string_view policy, const scheduling::SchedulingOptions& options) {
  const Result<scheduling::PolicySetup> setup = scheduling::set_up_policy(without_known(policy), options);
  if (!setup) return setup.error();
  return {};
}

PreparedPolicy prepare_policy(std::string_view policy, const scheduling::SchedulingOptions& options,
                              const simulator::WorldPlan&, std::uint64_t) {
  Result<scheduling::PolicySetup> setup = scheduling::set_up_policy(without_known(policy), options);
  EVENKEEL_CHECK(setup);  // check_policy came first
  PreparedPolicy prepared{std::move(*setup), nullptr};
  prepared.setup.name = policy;
  if (is_reference(policy)) prepared.foresight = std::make_unique<PlanForesight>();
  return prepared;
}

}  // namespace evenkeel::training
