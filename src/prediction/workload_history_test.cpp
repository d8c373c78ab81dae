#include "prediction/workload_history.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace evenkeel::prediction
