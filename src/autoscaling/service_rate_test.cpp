#include "autoscaling/service_rate.h"

#include <gtest/gtest.h>

#include "autoscaling/test_services.h"
#include "base/random.h"

namespace evenkeel::autoscaling {
namespace {

using std::chrono::seconds;

TEST(ServiceRate, IsWhatACoreServes) {
  ServiceRate rate;
  EXPECT_FALSE(rate.known());
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    const double requests = random.between(10, 45);
    rate.observe(requests, requests / 100 * (1 + 0.03 * random.normal()));
  }
  ASSERT_TRUE(rate.known());
  EXPECT_NEAR(rate.per_core(), 100, 2);
  EXPECT_NEAR(rate.per_pod(0.5), 50, 1.5);
  EXPECT_LT(rate.doubt(), 0.02);
}

TEST(ServiceRate, TellsIdlingFromServing) {
  ServiceRate rate;
  Random random(2);
  for (int i = 0; i < 500; ++i) {
    const double requests = random.between(5, 40);
    rate.observe(requests, 0.1 + requests / 100);
  }
  EXPECT_NEAR(rate.idle_cores(), 0.1, 0.01);
  EXPECT_NEAR(rate.per_pod(0.5), 40, 2);
}

TEST(ServiceRate, IsNotMovedMuchByASampleThatCannotBe) {
  ServiceRate rate;
  for (int i = 0; i < 100; ++i) rate.observe(20 + i % 10, (20 + i % 10) / 100.0);
  rate.observe(25, 40);
  rate.observe(25, 0.00001);
  EXPECT_NEAR(rate.per_core(), 100, 5);
}

TEST(ServiceRate, LearnsANewVersionsCost) {
  ServiceRate rate;
  for (int i = 0; i < 2000; ++i) rate.observe(30, 0.3);
  for (int i = 0; i < 2000; ++i) rate.observe(30, 0.6);
  EXPECT_NEAR(rate.per_core(), 50, 5);
}

TEST(ServiceRate, IsTakenUpWhereItWasPutAway) {
  ServiceRate first, second;
  for (int i = 0; i < 20; ++i) first.observe(10 + i, (10 + i) / 80.0);
  learning::SavedState state;
  first.save(state, "rate");
  second.restore(state, "rate");
  ASSERT_TRUE(state.status());
  EXPECT_EQ(second.per_core(), first.per_core());
}

ServiceReport look(Time now, Time started, bool ready, Time ready_since) {
  ServiceReport report = test_report({0.1}, now);
  ReplicaReport pod = test_replica(0.1, 1, now);
  pod.name = "young";
  pod.started = started;
  pod.ready = ready;
  pod.ready_changed = ready_since;
  report.replicas.push_back(pod);
  return report;
}

TEST(StartUpTime, IsFromBeingStartedToBeingReady) {
  StartUpTime start;
  EXPECT_EQ(start.expected(), seconds{30});  // until one was seen
  start.observe(test_report({0.1}, kNow));
  start.observe(look(kNow + seconds{15}, kNow + seconds{5}, false, kNow + seconds{5}));
  start.observe(look(kNow + seconds{30}, kNow + seconds{5}, false, kNow + seconds{5}));
  start.observe(look(kNow + seconds{60}, kNow + seconds{5}, true, kNow + seconds{47}));
  EXPECT_EQ(start.seen(), 1);
  EXPECT_GE(start.expected(), seconds{42});
  EXPECT_LE(start.expected(), seconds{60});
}

TEST(StartUpTime, IsNotThatOfAPodThatOnlyBecameUnready) {
  StartUpTime start;
  start.observe(test_report({0.1}, kNow));
  ServiceReport failing = test_report({0.1}, kNow + seconds{15});
  failing.replicas[0].ready = false;
  failing.replicas[0].ready_changed = kNow + seconds{10};
  start.observe(failing);
  start.observe(test_report({0.1}, kNow + seconds{600}));
  EXPECT_EQ(start.seen(), 0);
}

}  // namespace
}  // namespace evenkeel::autoscaling
