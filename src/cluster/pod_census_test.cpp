#include "cluster/pod_census.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "cluster/cluster_state.h"
#include "cluster/test_objects.h"

namespace evenkeel {
namespace {

std::shared_ptr<const PodTemplate> labelled(const Labels& labels, std::string name_space = "default") {
  return std::make_shared<const PodTemplate>(std::move(name_space), labels, std::vector<OwnerReference>{},
                                             WorkloadId{}, spec_asking(1, 1));
}

PodQuery asking_for(const std::string& app, std::string name_space = "default") {
  return {{{false, {std::move(name_space)}, {{{"app", SelectorOperator::in, {app}}}}}}, true};
}

std::vector<std::uint32_t> list(std::span<const std::uint32_t> counts) {
  return {counts.begin(), counts.end()};
}

TEST(PodCensus, KeepsAnAnswerUpAsPodsComeAndGo) {
  ClusterState cluster;
  for (std::uint32_t slot = 0; slot < 3; ++slot) cluster.set_node(test_node(slot));
  cluster.found(test_pod({0, 1}, labelled({{"app", "web"}})), {0}, {}, {});
  EXPECT_EQ(list(cluster.pods_meant(asking_for("web"))), (std::vector<std::uint32_t>{1, 0, 0}));
  cluster.found(test_pod({1, 1}, labelled({{"app", "web"}, {"pod", "1"}})), {2}, {}, {});
  cluster.found(test_pod({2, 1}, labelled({{"app", "db"}})), {2}, {}, {});
  cluster.found(test_pod({3, 1}, labelled({{"app", "web"}}, "other")), {1}, {}, {});
  EXPECT_EQ(list(cluster.pods_meant(asking_for("web"))), (std::vector<std::uint32_t>{1, 0, 1}));
  cluster.remove_pod({0, 1});
  EXPECT_EQ(list(cluster.pods_meant(asking_for("web"))), (std::vector<std::uint32_t>{0, 0, 1}));
}

TEST(PodCensus, LeavesOutPodsThatAreEndingWhereAskedTo) {
  ClusterState cluster;
  cluster.set_node(test_node(0));
  Pod pod = test_pod({0, 1}, labelled({{"app", "web"}}));
  cluster.found(pod, {0}, {}, {});
  PodQuery all = asking_for("web");
  all.skip_terminating = false;
  EXPECT_EQ(list(cluster.pods_meant(asking_for("web"))), (std::vector<std::uint32_t>{1}));
  pod.terminating = true;
  cluster.update_pod(pod);
  EXPECT_EQ(list(cluster.pods_meant(asking_for("web"))), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(list(cluster.pods_meant(all)), (std::vector<std::uint32_t>{1}));
}

TEST(PodCensus, AnswersAfterAnyHistoryAsAWalkOverAllPodsWould) {
  Random random(5);
  ClusterState cluster;
  constexpr std::uint32_t kNodes = 4, kPods = 30;
  for (std::uint32_t slot = 0; slot < kNodes; ++slot) cluster.set_node(test_node(slot));
  const std::vector<std::string> apps = {"a", "b", "c"};
  std::uint32_t generation = 1;
  for (int step = 0; step < 2000; ++step) {
    const auto slot = static_cast<std::uint32_t>(random.below(kPods));
    if (random.chance(0.5)) {
      for (std::uint32_t g = 1; g <= generation; ++g) cluster.remove_pod({slot, g});
    } else {
      Labels labels{{"app", apps[random.below(3)]}};
      if (random.chance(0.3)) labels.set("pod", std::to_string(step));
      cluster.found(test_pod({slot, 1}, labelled(labels)), {static_cast<std::uint32_t>(random.below(kNodes))},
                    {}, {});
    }
    const PodQuery query = asking_for(apps[random.below(3)]);
    std::vector<std::uint32_t> walked(kNodes);
    for (std::uint32_t node = 0; node < kNodes; ++node)
      for (const PodId id : cluster.pods_on({node}))
        walked[node] += matches(query.all.front(), "default", cluster.pod(id)->pod.shape->labels) ? 1 : 0;
    ASSERT_EQ(list(cluster.pods_meant(query)), walked) << "step " << step;
  }
}

TEST(ClusterState, HidesAPodAndShowsItAgainWithoutATrace) {
  ClusterState cluster;
  cluster.set_node(test_node(0));
  cluster.found(test_pod({0, 1}, shape_asking(1000, 1 << 20)), {0}, {}, {});
  cluster.add_pending(test_pod({1, 1}, shape_asking(500, 1 << 20)));
  const double free = cluster.columns().free_cpu[0];
  cluster.hide({0, 1});
  EXPECT_EQ(cluster.columns().free_cpu[0], free + 1000);
  cluster.imagine({1, 1}, {0});
  EXPECT_EQ(cluster.columns().free_cpu[0], free + 500);
  EXPECT_EQ(cluster.pods_on({0}).size(), 2U);
  cluster.forget({1, 1});
  cluster.show({0, 1});
  EXPECT_EQ(cluster.columns().free_cpu[0], free);
  EXPECT_EQ(cluster.pods_on({0}).size(), 1U);
}

TEST(ObjectStore, FindsWhatWasSetAndForgetsWhatIsGone) {
  ObjectStore store;
  PersistentVolumeClaim claim;
  claim.name_space = "shop";
  claim.name = "data";
  store.set(claim);
  ASSERT_NE(store.claim("shop", "data"), nullptr);
  EXPECT_EQ(store.claim("other", "data"), nullptr);
  store.reserve(std::vector<VolumeBinding>{{"shop", "data", ""}}, "node-1");
  EXPECT_EQ(store.selected_node(claim), "node-1");
  store.release(std::vector<VolumeBinding>{{"shop", "data", ""}});
  EXPECT_EQ(store.selected_node(claim), "");
  store.remove(claim);
  EXPECT_EQ(store.claim("shop", "data"), nullptr);
}

}  // namespace
}  // namespace evenkeel
