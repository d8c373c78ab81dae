#include "prediction/workload_history.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "cluster/test_objects.h"

namespace evenkeel::prediction {
namespace {

using namespace std::chrono_literals;
constexpr WorkloadId kVideo{2}, kOther{7};

Pod pod_of(WorkloadId workload, std::int64_t milli_cpu = 500) {
  return test_pod({1, 1}, shape_asking(milli_cpu, 100'000'000, workload));
}

TEST(WorkloadHistory, StartsFromRequestsAndDoubtsThem) {
  const WorkloadHistory history;
  const Demand demand = history.demand(pod_of(kVideo));
  EXPECT_DOUBLE_EQ(demand.mean[Dimension::cpu], 0.5);
  EXPECT_DOUBLE_EQ(demand.mean[Dimension::memory], 1e8);
  EXPECT_DOUBLE_EQ(demand.variance[Dimension::cpu], 0.0625);
  for (const Dimension d : {Dimension::receive, Dimension::transmit, Dimension::read, Dimension::write})
    EXPECT_EQ(demand.mean[d], 0);
  EXPECT_DOUBLE_EQ(history.demand(pod_of(kVideo, 0)).mean[Dimension::cpu],
                   0.1);  // as kube-scheduler scores it
}

TEST(WorkloadHistory, KnowsNothingBeforeItWasTold) {
  WorkloadHistory history;
  const Demand before = history.demand(pod_of(kVideo));
  history.observe_usage(pod_of(kOther), Usage{{9, 9, 9, 9, 9, 9}}, Time{});
  history.observe_end(pod_of(kOther), 60s);
  EXPECT_EQ(history.demand(pod_of(kVideo)), before);  // others' pasts are not its own
  EXPECT_TRUE(history.lifetime(pod_of(kVideo)).endless);
  EXPECT_EQ(history.profile(kVideo), nullptr);
  EXPECT_EQ(history.ends(kVideo), 0U);
  history.observe_usage(pod_of(kVideo), Usage{{0.25, 1e8, 5, 0, 0, 0}}, Time{});
  EXPECT_DOUBLE_EQ(history.demand(pod_of(kVideo)).mean[Dimension::receive], 5);
  EXPECT_NE(history.profile(kVideo), nullptr);
  EXPECT_TRUE(history.lifetime(pod_of(kVideo)).endless);  // use says nothing of ends
}

TEST(WorkloadHistory, LearnsLivesFromEnds) {
  WorkloadHistory history;
  for (int i = 0; i < 10; ++i) history.observe_end(pod_of(kVideo), 75s);
  const Lifetime life = history.lifetime(pod_of(kVideo));
  EXPECT_FALSE(life.endless);
  EXPECT_NEAR(life.median_s(), 75, 1e-6);
  EXPECT_EQ(history.ends(kVideo), 10U);
}

TEST(WorkloadHistory, GoesByTheLimitWhereThereIsOne) {
  WorkloadHistory history;
  PodSpec spec = spec_asking(100, 0);
  for (const std::int64_t limit : {1000, 2000, 4000}) {
    spec.containers.front().limits.cpu = {limit};
    const Pod pod = test_pod({1, 1}, test_shape(spec, kVideo));
    history.observe_usage(pod, Usage{{static_cast<double>(limit) / 1000, 0, 0, 0, 0, 0}}, Time{});
  }
  spec.containers.front().limits.cpu = {3000};
  EXPECT_NEAR(history.demand(test_pod({1, 1}, test_shape(spec, kVideo))).mean[Dimension::cpu], 3, 0.01);
}

TEST(WorkloadHistory, LearnsFromWhatAStoreKept) {
  WorkloadHistory history;
  for (int i = 0; i < 5; ++i) history.observe_sample(kVideo, Usage{{0.3, 2e8, 0, 0, 0, 7}}, Time{} - 1h);
  EXPECT_DOUBLE_EQ(history.demand(pod_of(kVideo)).mean[Dimension::write], 7);
}

class Oracle final : public Foresight {
 public:
  double life_s(PodId pod) const override { return pod.slot == 1 ? 42 : -1; }
};

TEST(WorkloadHistory, LetsForesightWin) {
  WorkloadHistory history;
  const Oracle oracle;
  history.observe_end(pod_of(kVideo), 1000s);
  history.set_foresight(&oracle);
  const Lifetime life = history.lifetime(pod_of(kVideo));
  EXPECT_NEAR(life.median_s(), 42, 1e-9);
  EXPECT_NEAR(life.survival(0, 41), 1, 1e-5);
  EXPECT_NEAR(life.survival(0, 43), 0, 1e-5);
  EXPECT_TRUE(history.lifetime(test_pod({5, 1}, shape_asking(1, 1, kVideo))).endless);
}

TEST(WorkloadHistory, PredictsAfterARestartWhatItPredictedBefore) {
  WorkloadHistory before;
  Random random(5);
  const auto limited = [&](WorkloadId workload, std::int64_t milli_cpu) {
    PodSpec spec = spec_asking(milli_cpu, 100'000'000);
    spec.containers.front().limits.cpu = {2000};
    spec.containers.front().limits.memory = {4'000'000'000};
    return test_pod({1, 1}, test_shape(spec, workload));
  };
  const std::vector<Pod> pods = {pod_of(kVideo), pod_of(kOther, 900), limited({3}, 200), limited({4}, 300)};
  for (int i = 0; i < 200; ++i)
    for (const Pod& pod : pods) {
      before.observe_pod(pod);
      Usage usage;
      for (double& amount : usage.of) amount = random.between(0, 10);
      before.observe_usage(pod, usage, Time{} + std::chrono::hours(i));
    }
  for (int i = 0; i < 7; ++i) before.observe_end(pods[0], std::chrono::seconds(50 + i));
  WorkloadHistory after;
  std::vector<std::pair<WorkloadId, WorkloadPast>> pasts;
  for (std::uint32_t slot = 0; slot < before.workloads(); ++slot)
    pasts.push_back({WorkloadId{slot}, before.past({slot})});
  after.restore(pasts);
  for (const Pod& pod : pods) {
    // Those of a class go by what the class was when it was last looked at, which is now.
    const bool alone = !ShapeClasses::has_class(*pod.shape);
    if (alone) {
      EXPECT_EQ(after.demand(pod), before.demand(pod));
    }
    EXPECT_EQ(after.lifetime(pod).log_median, before.lifetime(pod).log_median);
    EXPECT_EQ(after.lifetime(pod).endless, before.lifetime(pod).endless);
    EXPECT_EQ(after.past(pod.shape->workload), before.past(pod.shape->workload));
  }
}

TEST(WorkloadHistory, LetsRequestsCountUntilEnoughWasSeen) {
  WorkloadHistory history({0s, 5});
  for (int i = 0; i < 5; ++i) history.observe_usage(pod_of(kVideo), Usage{{0.1, 3e7, 9, 0, 0, 0}}, Time{});
  const Demand half = history.demand(pod_of(kVideo));
  EXPECT_NEAR(half.mean[Dimension::cpu], 0.3, 1e-9);    // between 0.5 asked for and 0.1 seen
  EXPECT_NEAR(half.mean[Dimension::receive], 9, 1e-9);  // nobody asks for that
  for (int i = 0; i < 5000; ++i) history.observe_usage(pod_of(kVideo), Usage{{0.1, 3e7, 9, 0, 0, 0}}, Time{});
  EXPECT_NEAR(history.demand(pod_of(kVideo)).mean[Dimension::cpu], 0.1, 1e-3);
}

TEST(WorkloadHistory, IsNotSpoiltByWhatPodsUseWhileTheyStart) {
  WorkloadHistory history({30s, 0});
  for (int second = 0; second < 300; ++second) {
    const double cpu = second < 10 ? 3.0 : 0.2;  // compiles for ten seconds, then serves
    history.observe_usage(pod_of(kVideo), Usage{{cpu, 1e8, 0, 0, 0, 0}}, Time{},
                          {kAllKnown, history.weight_at(std::chrono::seconds(second))});
  }
  EXPECT_NEAR(history.demand(pod_of(kVideo)).mean[Dimension::cpu], 0.2, 0.05);  // a plain mean: 0.29
  EXPECT_EQ(history.profile(kVideo)->peak()[Dimension::cpu], 0.2);
  EXPECT_EQ(history.weight_at(0s), 0.1);
  EXPECT_EQ(history.weight_at(15s), 0.5);
  EXPECT_EQ(WorkloadHistory().weight_at(0s), 1);
}

TEST(WorkloadHistory, TakesTheRequestsForWhatNoSampleToldOf) {
  WorkloadHistory history;
  history.observe_usage(pod_of(kVideo), Usage{{0, 0, 5, 0, 0, 0}}, Time{},
                        {{false, false, true, true, true, true}, 1});
  EXPECT_DOUBLE_EQ(history.demand(pod_of(kVideo)).mean[Dimension::cpu], 0.5);
  EXPECT_DOUBLE_EQ(history.demand(pod_of(kVideo)).mean[Dimension::receive], 5);
}

}  // namespace
}  // namespace evenkeel::prediction
