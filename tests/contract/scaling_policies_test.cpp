// What every scaling policy must do, whatever it is: run here is every entry of the registry.
#include <gtest/gtest.h>

#include <algorithm>

#include "autoscaling/autoscaler.h"
#include "autoscaling/policies/registry.h"
#include "control/scaling_loop.h"
#include "simulator/service_world.h"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using simulator::ServiceFault;
using simulator::ServiceWorld;
using simulator::ServiceWorldPlan;

ServiceWorldPlan plan_of(std::string_view policy) {
  ServiceWorldPlan plan;
  simulator::RequestRates rates;
  for (int minute = 0; minute < 60; ++minute)
    rates.per_s.push_back(static_cast<float>(minute % 20 < 8 ? 30 : 140));
  plan.length = rates.length();
  plan.rates = std::make_shared<const simulator::RequestRates>(std::move(rates));
  plan.services.resize(1);
  ScalerSpec& spec = plan.services[0].scaler;
  spec.name_space = "default";
  spec.name = "web";
  spec.mode = ScalerSpec::Mode::automatic;
  spec.min_replicas = 2;
  spec.max_replicas = 7;
  spec.policy = policy;
  spec.metrics.resize(1);
  plan.services[0].replicas = 2;
  return plan;
}

struct Run {
  std::vector<std::int32_t> wanted;
  bool within = true;
  simulator::ServiceMeasures::Summary summary;
};

Run run(const ServiceWorldPlan& plan, std::uint64_t seed) {
  ServiceWorld world(plan, Random(seed));
  autoscaling::Autoscaler autoscaler;
  control::ScalingLoop loop(
      world, autoscaler,
      [](const ScalerSpec& spec) {
        return autoscaling::make_scaling_policy(spec.policy, spec.arguments, nullptr);
      },
      Random(seed));
  Run seen;
  while (loop.turn()) {
    const std::int32_t wanted = world.services().front()->replicas.wanted();
    seen.wanted.push_back(wanted);
    seen.within = seen.within && wanted >= 2 && wanted <= 7;
  }
  seen.summary = world.measures().summarise();
  return seen;
}

class EveryScalingPolicy : public testing::TestWithParam<std::string_view> {};

TEST_P(EveryScalingPolicy, StaysWithinItsBounds) { EXPECT_TRUE(run(plan_of(GetParam()), 1).within); }

TEST_P(EveryScalingPolicy, RepeatsItselfForASeed) {
  const ServiceWorldPlan plan = plan_of(GetParam());
  EXPECT_EQ(run(plan, 7).wanted, run(plan, 7).wanted);
}

TEST_P(EveryScalingPolicy, SurvivesWithoutAnyMetric) {
  for (const ServiceFault::Kind kind :
       {ServiceFault::Kind::missing, ServiceFault::Kind::not_a_number, ServiceFault::Kind::unseen}) {
    ServiceWorldPlan plan = plan_of(GetParam());
    plan.faults = {{kind, ServiceFault::What::both, 1, 0s, plan.length}};
    EXPECT_TRUE(run(plan, 1).within);
  }
}

TEST_P(EveryScalingPolicy, SurvivesMetricsThatComeAndGo) {
  ServiceWorldPlan plan = plan_of(GetParam());
  for (int i = 0; i < 12; ++i)
    plan.faults.push_back({static_cast<ServiceFault::Kind>(i % 4), static_cast<ServiceFault::What>(i % 3),
                           0.7, i * 300s, i * 300s + 120s});
  plan.scale_failures = 0.3;
  EXPECT_TRUE(run(plan, 3).within);
}

TEST_P(EveryScalingPolicy, RefusesAnArgumentItDoesNotKnow) {
  EXPECT_FALSE(autoscaling::make_scaling_policy(GetParam(), {{"no-such-argument", "1"}}, nullptr));
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryScalingPolicy, testing::ValuesIn(autoscaling::scaling_policy_names()),
                         [](const auto& tried) {
                           std::string name(tried.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace evenkeel
