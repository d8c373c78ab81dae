#include "training/scaling_env.h"

#include "autoscaling/autoscaler.h"
#include "control/scaling_loop.h"
#include "simulator/service_world.h"
#include "training/scaling_evaluation.h"

namespace evenkeel::training {
namespace {

// The loop owns its policies; this one is lent.
class Lent final : public autoscaling::ScalingPolicy {
 public:
  explicit Lent(autoscaling::ScalingPolicy& policy) : policy_(policy) {}
  autoscaling::Recommendation recommend(const autoscaling::ScalingRequest& request, Random& random) override {
    return policy_.recommend(request, random);
  }

 private:
  autoscaling::ScalingPolicy& policy_;
};

}  // namespace

RunResult run_scaling_world(const simulator::ServiceWorldPlan& plan, std::uint64_t seed, const Random& random,
                            autoscaling::ScalingPolicy& policy) {
  simulator::ServiceWorld world(plan, Random(seed));
  autoscaling::Autoscaler autoscaler;
  const auto lend = [&](const ScalerSpec&) -> Result<std::unique_ptr<autoscaling::ScalingPolicy>> {
    return std::unique_ptr<autoscaling::ScalingPolicy>(std::make_unique<Lent>(policy));
  };
  control::ScalingLoop loop(world, autoscaler, lend, random);
  while (loop.turn()) {
  }
  RunResult result;
  result.metrics = metrics_of(world.measures().summarise(), plan);
  return result;
}

}  // namespace evenkeel::training
