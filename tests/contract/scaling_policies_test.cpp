// What every scaling policy must do, whatever it is: run here is every entry of the registry.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

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

// Tells of another world what cannot be, in a part of the looks.
class LyingWorld final : public ScalingWorld {
 public:
  LyingWorld(ScalingWorld& world, double share, Random random)
      : world_(world), share_(share), random_(random) {}

  Time now() const override { return world_.now(); }
  void execute(const ScalingAction& action) override { world_.execute(action); }
  std::optional<std::span<const ScalingEvent>> wait_for_events(Time deadline) override {
    const auto events = world_.wait_for_events(deadline);
    if (!events) return std::nullopt;
    told_.assign(events->begin(), events->end());
    for (ScalingEvent& event : told_)
      if (auto* const seen = std::get_if<ServiceReported>(&event); seen && random_.chance(share_))
        distort(seen->report);
    return told_;
  }

 private:
  double value() {
    using Limits = std::numeric_limits<double>;
    constexpr std::array kValues = {Limits::quiet_NaN(),
                                    Limits::infinity(),
                                    -Limits::infinity(),
                                    Limits::max(),
                                    Limits::denorm_min(),
                                    -1.0,
                                    -1e18,
                                    1e18,
                                    0.0,
                                    1e-300};
    return kValues[random_.below(kValues.size())];
  }
  Time moment() {
    const std::array moments = {Time{}, now() + 1h, now() - 1h, now(), Time{} - 24h, now() + 240000h};
    return moments[random_.below(moments.size())];
  }
  void distort(std::optional<ServiceReport::Amount>& amount) {
    if (random_.chance(0.3)) amount.reset();
    if (random_.chance(0.5)) amount = ServiceReport::Amount{value(), random_.chance(0.5) ? now() : moment()};
  }
  void distort(ServiceReport& report) {
    distort(report.requests_per_s);
    distort(report.response_s);
    distort(report.in_flight);
    for (auto& amount : report.amounts) distort(amount);
    for (ReplicaReport& replica : report.replicas) {
      if (random_.chance(0.1)) replica.samples.clear();
      if (random_.chance(0.1)) replica.ready_changed = moment();
      if (random_.chance(0.1)) replica.started.reset();
      if (random_.chance(0.2)) replica.ready = !replica.ready;
      for (auto& sample : replica.samples)
        if (random_.chance(0.5)) sample = ReplicaReport::Sample{value(), value(), moment(), moment() - now()};
    }
    if (random_.chance(0.1)) report.replicas.clear();
    if (random_.chance(0.1) && !report.replicas.empty()) report.replicas.resize(500, report.replicas.front());
    if (random_.chance(0.1)) report.there = static_cast<std::int32_t>(random_.below(1000));
    if (random_.chance(0.1)) report.measured = moment();
  }

  ScalingWorld& world_;
  double share_;
  Random random_;
  std::vector<ScalingEvent> told_;
};

Run run(const ServiceWorldPlan& plan, std::uint64_t seed, double lies = 0) {
  ServiceWorld world(plan, Random(seed));
  LyingWorld told(world, lies, Random(seed).fork("lies"));
  autoscaling::Autoscaler autoscaler;
  control::ScalingLoop loop(
      told, autoscaler,
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

TEST_P(EveryScalingPolicy, SurvivesReportsThatCannotBe) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    for (const double share : {0.3, 1.0})
      EXPECT_TRUE(run(plan_of(GetParam()), seed, share).within) << "seed " << seed << ", share " << share;
}

TEST_P(EveryScalingPolicy, SurvivesReportsThatGrowStale) {
  ServiceWorldPlan plan = plan_of(GetParam());
  plan.faults = {{ServiceFault::Kind::stale, ServiceFault::What::both, 1, 20min, 40min}};
  EXPECT_TRUE(run(plan, 2).within);
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
