// What a scheduler believes of nodes' use: between samples, without them, and when they grow old.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "scheduling/policies/horizon.h"
#include "scheduling/policies/registry.h"
#include "scheduling/test_desk.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;

SchedulingOptions live_options() {
  SchedulingOptions options;
  options.stale_after = 30s;
  options.history = prediction::live_history();
  return options;
}

// Four nodes, sampled when told so, and pods that a policy places.
class UsageDesk : public TestDesk {
 public:
  explicit UsageDesk(std::uint32_t nodes) : TestDesk(nodes, live_options()) {}

  void sample(NodeId node, double cores, std::vector<PodUsage> pods = {}) {
    tell(UsageReported{node, now, Usage{{cores, cores * 1e9, 0, 0, 0, 0}}, pods});
  }
  void sample_all(const std::vector<double>& cores) {
    for (std::uint32_t slot = 0; slot < cores.size(); ++slot) sample({slot}, cores[slot]);
  }
  NodeId place(PlacementPolicy& policy) {
    const Next next = scheduler.next(now);
    const auto& request = std::get<PlacementRequest>(next);
    const NodeId node = *policy.choose(request, random);
    scheduler.commit(request, node);
    return node;
  }
  double load(NodeId node) const { return scheduler.cluster().load(node).mean[Dimension::cpu]; }

  Random random{1};
};

TEST(SchedulerUsage, ASampleThatIsNoNumberIsAsIfNobodyHadSentIt) {
  UsageDesk desk(2);
  desk.sample_all({1, 2});
  desk.now += 1s;
  desk.sample({0}, std::numeric_limits<double>::quiet_NaN());
  desk.sample({0}, std::numeric_limits<double>::infinity());
  desk.sample({0}, -1);
  const PodId pod = desk.add_running({1}, spec_of(100));
  desk.sample({1}, 3, {{pod, Usage{{std::numeric_limits<double>::quiet_NaN(), 0, 0, 0, 0, 0}}}});
  EXPECT_EQ(desk.load({0}), 1);
  EXPECT_TRUE(std::isfinite(desk.load({1})));
  desk.now += 1s;
  desk.sample({0}, 1.5);
  EXPECT_EQ(desk.load({0}), 1.5);
}

TEST(SchedulerUsage, ABurstBetweenTwoSamplesSpreadsInsteadOfHerdingOnTheEmptiestNode) {
  for (const char* name : {"horizon", "greedy"}) {
    const auto setup = set_up_policy(name, live_options());
    ASSERT_TRUE(setup);
    UsageDesk desk(4);
    desk.sample_all({1.0, 1.1, 1.05, 0.2});  // the last looks empty
    for (int i = 0; i < 20; ++i) desk.add(shape_asking(100, 1 << 27, WorkloadId{1}));
    std::array<int, 4> placed{};
    for (int i = 0; i < 20; ++i) ++placed[desk.place(*setup->policy).slot];
    // 0.2 + 11 x 0.1 is about 1 + 3 x 0.1.
    EXPECT_GT(placed[3], 5) << name;
    EXPECT_LT(placed[3], 14) << name;
    for (int node = 0; node < 3; ++node) EXPECT_GE(placed[static_cast<std::size_t>(node)], 1) << name;
    double least = 9, most = 0;
    for (std::uint32_t slot = 0; slot < 4; ++slot) {
      least = std::min(least, desk.load({slot}));
      most = std::max(most, desk.load({slot}));
    }
    EXPECT_LT(most - least, 0.35) << name;
  }
}

TEST(SchedulerUsage, ASampleThatDoesNotShowAPlacedPodYetTakesNothingBack) {
  UsageDesk desk(2);
  desk.sample_all({1, 1});
  Horizon policy;
  for (int i = 0; i < 4; ++i) desk.add(shape_asking(500, 1, WorkloadId{1}));
  for (int i = 0; i < 4; ++i) desk.place(policy);
  desk.now += 5s;
  desk.sample_all({1, 1});  // they pull their images
  EXPECT_NEAR(desk.load({0}), 2, 1e-9);
  EXPECT_NEAR(desk.load({1}), 2, 1e-9);
}

TEST(SchedulerUsage, ANewWorkloadsFirstSampleDoesNotMakeItLookIdle) {
  UsageDesk desk(2);
  const PodId first = desk.add_running({0}, shape_asking(1000, 1, WorkloadId{1}));
  desk.tell(PodStarted{first});
  desk.now += 1s;
  desk.sample({0}, 0.01, {{first, Usage{{0.01, 1e6, 0, 0, 0, 0}}}});
  const Pod next = test_pod({99, 1}, shape_asking(1000, 1, WorkloadId{1}));
  EXPECT_GT(desk.scheduler.history().demand(next).mean[Dimension::cpu], 0.9);
}

TEST(SchedulerUsage, AStaleNodeCountsByItsPodsPastsAndTheOthersByTheirSamples) {
  UsageDesk desk(3);
  std::vector<PodId> pods;
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    pods.push_back(desk.add_running({slot}, shape_asking(1000, 1, WorkloadId{slot})));
    desk.tell(PodStarted{pods.back(), desk.now - 1h});
  }
  const auto sample = [&](std::uint32_t slot, double cores) {
    desk.sample({slot}, cores, {{pods[slot], Usage{{cores, 1e9, 0, 0, 0, 0}}}});
  };
  for (int i = 0; i < 200; ++i) {  // a past: half a core each
    desk.now += 5s;
    for (std::uint32_t slot = 0; slot < 3; ++slot) sample(slot, 0.5);
  }
  // The second works hard when it is last heard of.
  desk.now += 5s;
  for (int i = 0; i < 3; ++i) desk.sample({1}, 3.9, {{pods[1], Usage{{0.5, 1e9, 0, 0, 0, 0}}}});
  EXPECT_NEAR(desk.load({1}), 3.9, 0.1);
  for (int i = 0; i < 7; ++i) {
    desk.now += 5s;
    sample(0, 0.5);
    sample(2, 0.5);
    desk.scheduler.next(desk.now);
  }
  EXPECT_TRUE(desk.scheduler.cluster().is_sampled({0}));
  EXPECT_FALSE(desk.scheduler.cluster().is_sampled({1}));
  EXPECT_NEAR(desk.load({1}), 0.5, 0.1);
  // Deciding goes on by load, and the silent node is neither shunned nor flooded.
  Horizon policy;
  std::array<int, 3> placed{};
  for (int i = 0; i < 9; ++i) {
    desk.add(shape_asking(100, 1 << 27, WorkloadId{7}));
    ++placed[desk.place(policy).slot];
  }
  for (const int count : placed) EXPECT_EQ(count, 3);
  // It speaks again, and is believed.
  desk.sample({1}, 2.5, {{pods[1], Usage{{0.5, 1e9, 0, 0, 0, 0}}}});
  EXPECT_TRUE(desk.scheduler.cluster().is_sampled({1}));
  EXPECT_GT(desk.load({1}), 2.4);
}

TEST(SchedulerUsage, WithoutAnyFreshSampleItIsDecidedAsKubernetesDoes) {
  UsageDesk desk(2);
  desk.add_running({0}, shape_asking(2000, 1 << 30, WorkloadId{1}));
  desk.sample_all({0.1, 3.5});  // busy where little is requested
  Horizon policy;
  desk.add(shape_asking(100, 1, WorkloadId{2}));
  EXPECT_EQ(desk.place(policy), NodeId{0});
  desk.now += 31s;
  desk.add(shape_asking(100, 1, WorkloadId{2}));
  EXPECT_EQ(desk.place(policy), NodeId{1});  // by requests
  EXPECT_FALSE(desk.scheduler.cluster().is_sampled({0}));
  desk.sample({0}, 0.1);  // one is enough
  desk.add(shape_asking(100, 1, WorkloadId{2}));
  EXPECT_NO_FATAL_FAILURE(desk.place(policy));
}

TEST(SchedulerUsage, AClockThatWasSetBackDoesNotShutTheEarsToNews) {
  UsageDesk desk(1);
  desk.sample({0}, 3);
  desk.now -= 30min;
  desk.sample({0}, 1);
  EXPECT_NEAR(desk.load({0}), 1, 1e-9);
  desk.tell(UsageReported{{0}, desk.now - 10s, Usage{{2, 0, 0, 0, 0, 0}}, {}});  // late, not set back
  EXPECT_NEAR(desk.load({0}), 1, 1e-9);
}

TEST(SchedulerUsage, WhatAStoreKeptIsWhatNewPodsAreExpectedToUse) {
  prediction::WorkloadHistory earlier(prediction::live_history());
  const Pod pod = test_pod({50, 1}, shape_asking(1000, 1, WorkloadId{3}));
  for (int i = 0; i < 500; ++i) earlier.observe_usage(pod, Usage{{0.2, 1e8, 1e6, 0, 0, 0}}, Time{});
  UsageDesk desk(2);
  const std::vector<std::pair<WorkloadId, WorkloadPast>> pasts = {{WorkloadId{3}, earlier.past({3})}};
  desk.scheduler.restore(pasts);
  EXPECT_EQ(desk.scheduler.history().demand(pod), earlier.demand(pod));
  EXPECT_NEAR(desk.scheduler.history().demand(pod).mean[Dimension::cpu], 0.2, 0.01);
}

}  // namespace
}  // namespace evenkeel::scheduling
