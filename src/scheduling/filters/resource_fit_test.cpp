#include <gtest/gtest.h>

#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

using Reasons = std::vector<std::string>;
constexpr std::int64_t kGi = 1LL << 30;

// A node of 4 cores and 8 GiB on which 3 cores and 6 GiB are taken.
TestCluster nearly_full() {
  TestCluster cluster(1);
  cluster.add_running({0}, shape_asking(3000, 6 * kGi));
  return cluster;
}

Reasons objections_to(const TestCluster& cluster, const PodSpec& spec) {
  const Pod pod = pod_with(spec);
  const Reasons reasons = cluster.objections_of(kResourceFit, pod, {0});
  EXPECT_EQ(cluster.passes(kResourceFit, pod) == "1", reasons.empty());
  return reasons;
}

TEST(ResourceFitFilter, FillsANodeToTheLastMillicoreAndByte) {
  EXPECT_EQ(objections_to(nearly_full(), spec_asking(1000, 2 * kGi)), Reasons{});
  EXPECT_EQ(objections_to(nearly_full(), spec_asking(1001, 2 * kGi)), Reasons{"Insufficient cpu"});
  EXPECT_EQ(objections_to(nearly_full(), spec_asking(1000, 2 * kGi + 1)), Reasons{"Insufficient memory"});
}

TEST(ResourceFitFilter, NamesEverythingThereIsTooLittleOf) {
  PodSpec spec = spec_asking(2000, 3 * kGi);
  spec.containers.front().requests.ephemeral_storage = {1};
  spec.containers.front().requests.set_extended("nvidia.com/gpu", 1);
  EXPECT_EQ(objections_to(nearly_full(), spec),
            (Reasons{"Insufficient cpu", "Insufficient memory", "Insufficient ephemeral-storage",
                     "Insufficient nvidia.com/gpu"}));
}

TEST(ResourceFitFilter, DoesNotCheckWhatIsNotAskedFor) {
  TestCluster cluster = nearly_full();
  cluster.state.set_node(test_node(0, 1000, kGi));  // shrunk below what runs on it
  EXPECT_EQ(objections_to(cluster, spec_asking(0, 0)), Reasons{});
  EXPECT_EQ(objections_to(cluster, spec_asking(1, 0)), Reasons{"Insufficient cpu"});
  EXPECT_EQ(objections_to(cluster, spec_asking(0, 1)), Reasons{"Insufficient memory"});
}

TEST(ResourceFitFilter, CountsPodsEvenIfTheyAskForNothing) {
  TestCluster cluster(1);
  Node node = test_node(0);
  node.max_pods = 2;
  cluster.state.set_node(node);
  cluster.add_running({0}, shape_asking(0, 0));
  EXPECT_EQ(objections_to(cluster, spec_asking(0, 0)), Reasons{});
  cluster.add_running({0}, shape_asking(0, 0));
  EXPECT_EQ(objections_to(cluster, spec_asking(0, 0)), Reasons{"Too many pods"});
}

TEST(ResourceFitFilter, CountsExtendedResourcesInUse) {
  TestCluster cluster(1);
  Node node = test_node(0);
  node.allocatable.set_extended("gpu", 2);
  node.allocatable.ephemeral_storage = {100};
  cluster.state.set_node(node);
  PodSpec spec = spec_asking(10, 0);
  spec.containers.front().requests.set_extended("gpu", 1);
  spec.containers.front().requests.ephemeral_storage = {50};
  cluster.add_running({0}, test_shape(spec));
  EXPECT_EQ(objections_to(cluster, spec), Reasons{});
  const PodId second = cluster.add_running({0}, test_shape(spec));
  EXPECT_EQ(objections_to(cluster, spec), (Reasons{"Insufficient ephemeral-storage", "Insufficient gpu"}));
  cluster.state.remove_pod(second);
  EXPECT_EQ(objections_to(cluster, spec), Reasons{});
}

TEST(ResourceFitFilter, StepsAsideWhenCapacityIsCountedByUse) {
  TestCluster cluster = nearly_full();
  cluster.options.by_use.on = true;
  EXPECT_EQ(objections_to(cluster, spec_asking(100'000, 0)), Reasons{});
}

}  // namespace
}  // namespace evenkeel::scheduling
