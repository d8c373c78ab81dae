#include "simulator/service_world.h"

#include <gtest/gtest.h>

#include <cmath>

namespace evenkeel::simulator {
namespace {

using namespace std::chrono_literals;

ServiceWorldPlan plan_of(std::vector<float> per_s, Duration step = 60s) {
  ServiceWorldPlan plan;
  RequestRates rates;
  rates.step = step;
  rates.per_s = std::move(per_s);
  plan.length = rates.length();
  plan.rates = std::make_shared<const RequestRates>(std::move(rates));
  plan.services.resize(1);
  plan.services[0].scaler.min_replicas = 1;
  plan.services[0].scaler.max_replicas = 20;
  plan.services[0].scaler.metrics.resize(1);
  return plan;
}

// Lets it run, answering each report with `replicas(now)`; returns the reports.
template <class Replicas>
std::vector<ServiceReport> run(ServiceWorld& world, Replicas replicas) {
  std::vector<ServiceReport> reports;
  while (const auto events = world.wait_for_events(Time::max())) {
    std::vector<ScaleWorkload> wanted;
    for (const ScalingEvent& event : *events) {
      const auto* const seen = std::get_if<ServiceReported>(&event);
      if (seen == nullptr) continue;
      reports.push_back(seen->report);
      const std::int32_t to = replicas(to_seconds(world.now().time_since_epoch()));
      if (to != seen->report.wanted) wanted.push_back({seen->scaler, seen->report.wanted, to});
    }
    for (const ScaleWorkload& action : wanted) world.execute(action);
  }
  return reports;
}

TEST(ServiceWorld, IsTheSameForASeedAndAnotherForAnother) {
  ServiceWorldPlan plan = plan_of({40, 60, 90, 30, 80});
  plan.services[0].start_up_spread = 0.3;
  const auto replicas = [](double at) { return at < 100 ? 2 : 3; };
  ServiceWorld once(plan, Random(1)), again(plan, Random(1)), other(plan, Random(2));
  const auto first = run(once, replicas);
  EXPECT_EQ(first, run(again, replicas));
  EXPECT_NE(first, run(other, replicas));
}

TEST(ServiceWorld, TakesRequestsFromOutsideForEveryServiceThatHasSome) {
  for (const bool exact : {false, true}) {
    ServiceWorldPlan plan = plan_of({0, 0, 0, 0, 0});
    plan.exact = exact;
    plan.services[0].replicas = 2;
    plan.services.push_back(plan.services[0]);
    plan.services[1].name = "other";
    plan.services[1].rates = plan_of({40, 40, 40, 40, 40}).rates;
    ServiceWorld world(plan, Random(1));
    run(world, [](double) { return 2; });
    EXPECT_EQ(world.services()[0]->counters.arrived, 0);
    EXPECT_NEAR(world.services()[1]->counters.arrived, 40 * 300, exact ? 500 : 1) << exact;
    EXPECT_GT(world.services()[1]->counters.answered, 0.9 * 40 * 300);
  }
}

TEST(ServiceReplicas, GoFromTheNodeWithMostOfThemUnlessTheyAreNamed) {
  const ServicePlan plan;  // half a core each
  ServiceRoom room({{"a", 2, Bytes{8LL << 30}}, {"b", 1, Bytes{8LL << 30}}});
  ServiceReplicas replicas(plan, false, Random(1));
  replicas.begin(Time{}, room);
  replicas.scale(5, {}, Time{}, room);
  replicas.advance(Time{} + 1min, room);  // on a: 1, 3 and 4; on b: 2 and 5
  const auto staying = [&] {
    std::string names;
    for (const Replica& replica : replicas.all())
      if (replica.state != Replica::State::leaving)
        names +=
            (names.empty() ? "" : " ") + std::to_string(replica.serial) + (replica.node == 0 ? "a" : "b");
    return names;
  };
  ASSERT_EQ(staying(), "1a 2b 3a 4a 5b");
  replicas.scale(4, {}, Time{} + 1min, room);
  EXPECT_EQ(staying(), "1a 2b 3a 5b");
  replicas.scale(3, {"service-2"}, Time{} + 1min, room);
  EXPECT_EQ(staying(), "1a 3a 5b");
}

TEST(ServiceWorld, LosesNoRequestOnItsWayThroughServices) {
  for (const bool exact : {false, true}) {
    ServiceWorldPlan plan = plan_of({40, 60, 90, 130, 20, 70});
    plan.exact = exact;
    plan.services.push_back(plan.services[0]);
    plan.services[0].calls.push_back({1, 1.5});
    plan.services[1].name = "called";
    ServiceWorld world(plan, Random(3));
    (void)run(world, [](double at) { return at < 120 ? 2 : at < 250 ? 4 : 1; });
    for (const auto& service : world.services()) {
      const ServiceCounters& counters = service->counters;
      EXPECT_GT(counters.arrived, 1000);
      EXPECT_NEAR(counters.arrived,
                  counters.served + counters.refused + service->replicas.lost() + service->held(world.now()),
                  1e-6 * counters.arrived);
    }
    const double calls = world.services()[1]->counters.arrived / world.services()[0]->counters.served;
    EXPECT_NEAR(calls, 1.5, exact ? 0.05 : 1e-9);
  }
}

// The quick way against the thorough one: the same mean response, late requests and violations.
TEST(ServiceWorld, CountsByMeansWhatComesOfFollowingEveryRequest) {
  struct Case {
    ServiceTimes times;
    int concurrency;
  };
  for (const Case& tried : {Case{{ServiceTimes::Kind::exponential, 1}, 1},
                            {{ServiceTimes::Kind::exponential, 1}, 3},
                            {{ServiceTimes::Kind::fixed, 0}, 1},
                            {{ServiceTimes::Kind::log_normal, 0.7}, 1}}) {
    // An hour: quiet, busy, beyond what the pods can do, and back.
    ServiceWorldPlan plan = plan_of({60, 70, 75, 80, 110, 105, 70, 60, 50, 72, 76, 60}, 300s);
    plan.services[0].replicas = 2;
    plan.services[0].concurrency = tried.concurrency;
    plan.services[0].times = tried.times;
    const auto two = [](double) { return 2; };
    ServiceWorld fluid(plan, Random(5));
    (void)run(fluid, two);
    double violation = 0, late = 0, response = 0, cpu = 0;
    constexpr int kWorlds = 4;
    plan.exact = true;
    for (int seed = 0; seed < kWorlds; ++seed) {
      ServiceWorld exact(plan, Random(static_cast<std::uint64_t>(seed)));
      (void)run(exact, two);
      const auto found = exact.measures().summarise();
      violation += found.violation / kWorlds;
      late += found.late / kWorlds;
      response += found.response_s / kWorlds;
      cpu += found.cpu_utilization / kWorlds;
    }
    const auto found = fluid.measures().summarise();
    EXPECT_NEAR(found.cpu_utilization, cpu, 0.01);
    EXPECT_NEAR(found.late, late, 0.03);
    EXPECT_NEAR(found.violation, violation, 0.06);
    EXPECT_NEAR(std::log(found.response_s), std::log(response), 0.25);
  }
}

TEST(ServiceWorld, GivesNewPodsTheirTimeToStart) {
  ServiceWorldPlan plan = plan_of({90, 90, 90, 90});
  plan.services[0].start_up = 40s;
  ServiceWorld world(plan, Random(1));
  const auto reports = run(world, [](double at) { return at >= 30 ? 3 : 1; });
  for (const ServiceReport& report : reports) {
    const double at = to_seconds(report.measured.time_since_epoch());
    const auto ready = std::count_if(report.replicas.begin(), report.replicas.end(),
                                     [](const ReplicaReport& replica) { return replica.ready; });
    EXPECT_EQ(ready, at >= 70 ? 3 : 1) << at;
    EXPECT_EQ(report.there, at > 30 ? 3 : 1) << at;
  }
}

TEST(ServiceWorld, ShowsCpuAndRequestsLateAndOnAverage) {
  ServiceWorldPlan plan = plan_of({20, 20, 40, 40, 40, 40});
  plan.rates = [&] {
    auto rates = *plan.rates;
    rates.interpolate = false;
    return std::make_shared<const RequestRates>(std::move(rates));
  }();
  ServiceWorld world(plan, Random(1));
  const auto reports = run(world, [](double) { return 1; });
  EXPECT_FALSE(reports.front().requests_per_s);
  EXPECT_FALSE(reports.front().replicas.front().samples.front());
  const ServiceReport& last = reports.back();
  ASSERT_TRUE(last.requests_per_s && last.response_s && last.replicas.front().samples.front());
  EXPECT_NEAR(last.requests_per_s->value, 40, 6);
  EXPECT_LE(last.requests_per_s->measured + plan.telemetry.scrape_delay, last.measured);
  EXPECT_NEAR(last.replicas.front().samples.front()->value, 0.4, 0.08);  // 40 x 10 ms
  EXPECT_EQ(last.replicas.front().samples.front()->window, 15s);
}

TEST(ServiceWorld, HidesWhatThePlanSaysIsHidden) {
  ServiceWorldPlan plan = plan_of({40, 40, 40, 40});
  plan.faults = {{ServiceFault::Kind::missing, ServiceFault::What::cpu, 1, 60s, 90s},
                 {ServiceFault::Kind::not_a_number, ServiceFault::What::requests, 1, 60s, 90s},
                 {ServiceFault::Kind::stale, ServiceFault::What::requests, 1, 90s, 150s},
                 {ServiceFault::Kind::unseen, ServiceFault::What::both, 1, 180s, 210s}};
  ServiceWorld world(plan, Random(1));
  int seen = 0;
  for (const ServiceReport& report : run(world, [](double) { return 1; })) {
    const Duration at = report.measured.time_since_epoch();
    EXPECT_FALSE(at >= 180s && at < 210s);
    if (at == 75s) {
      EXPECT_FALSE(report.replicas.front().samples.front());
      EXPECT_TRUE(std::isnan(report.requests_per_s->value));
      ++seen;
    }
    if (at == 135s) {
      EXPECT_LT(report.requests_per_s->measured.time_since_epoch(), 90s);
      ++seen;
    }
  }
  EXPECT_EQ(seen, 2);
}

TEST(ServiceWorld, LeavesPodsPendingThatFindNoRoom) {
  ServiceWorldPlan plan = plan_of({40, 40, 40, 40});
  plan.nodes = {{"a", 1, Bytes{8LL << 30}}, {"b", 1, Bytes{8LL << 30}}};
  ServiceWorld world(plan, Random(1));
  const auto reports = run(world, [](double at) { return at < 120 ? 6 : 3; });
  const auto pending = [](const ServiceReport& report) {
    return std::count_if(report.replicas.begin(), report.replicas.end(), [](const ReplicaReport& replica) {
      return replica.phase == ReplicaReport::Phase::pending;
    });
  };
  EXPECT_EQ(pending(reports[3]), 2);  // four of half a core fit
  EXPECT_EQ(pending(reports.back()), 0);
  EXPECT_EQ(world.room().fits(plan.services[0]), 1);
}

TEST(ServiceWorld, RefusesAScalingThatFoundSomethingElse) {
  const ServiceWorldPlan plan = plan_of({40, 40});
  ServiceWorld world(plan, Random(1));
  (void)world.wait_for_events(Time::max());
  world.execute(ScaleWorkload{{0, 1}, 7, 8});
  const auto events = world.wait_for_events(Time::max());
  ASSERT_TRUE(events && events->size() == 1);
  EXPECT_TRUE(std::holds_alternative<ScaleFailed>(events->front()));
}

TEST(ServiceWorld, ViolatesTheLevelOnlyWhileItHasTooFewPods) {
  ServiceWorldPlan plan = plan_of({30, 30, 90, 90, 30, 30}, 120s);
  ServiceWorld few(plan, Random(1)), enough(plan, Random(1));
  (void)run(few, [](double) { return 1; });
  (void)run(enough, [](double) { return 3; });
  EXPECT_GT(few.measures().summarise().violation, 0.3);
  EXPECT_DOUBLE_EQ(enough.measures().summarise().violation, 0);
  EXPECT_NEAR(enough.measures().summarise().replicas, 3, 0.1);
}

}  // namespace
}  // namespace evenkeel::simulator
