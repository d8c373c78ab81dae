#include <gtest/gtest.h>

#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

using Reasons = std::vector<std::string>;

// A node of 4 cores, half in use by a pod that asked for all of it.
TestCluster half_used() {
  TestCluster cluster(1);
  cluster.options.by_use.on = true;
  cluster.add_running({0}, shape_asking(4000, 8LL << 30), Usage{{2, 0, 0, 0, 0, 0}});
  return cluster;
}

Demand uses(double cores, double deviation = 0) {
  Demand demand;
  demand.mean[Dimension::cpu] = cores;
  demand.variance[Dimension::cpu] = deviation * deviation;
  return demand;
}

Reasons objections_to(const TestCluster& cluster, const Demand& demand) {
  const Pod pod = pod_with(spec_asking(4000, 8LL << 30));
  const Reasons reasons = cluster.objections_of(kUseFit, pod, {0}, demand);
  EXPECT_EQ(cluster.passes(kUseFit, pod, demand) == "1", reasons.empty());
  return reasons;
}

TEST(UseFitFilter, GoesByExpectedUseAndNotByRequests) {
  EXPECT_EQ(objections_to(half_used(), uses(1.99)), Reasons{});
  EXPECT_EQ(objections_to(half_used(), uses(2.01)), Reasons{"Expected use of cpu too high"});
}

TEST(UseFitFilter, AsksForMoreRoomTheLessSureItIs) {
  TestCluster cluster = half_used();
  cluster.options.by_use.risk = 2;
  EXPECT_EQ(objections_to(cluster, uses(1, 0.49)), Reasons{});
  EXPECT_EQ(objections_to(cluster, uses(1, 0.51)), Reasons{"Expected use of cpu too high"});
  cluster.options.by_use.risk = 0;
  EXPECT_EQ(objections_to(cluster, uses(1, 10)), Reasons{});
}

TEST(UseFitFilter, StopsAtItsCeiling) {
  TestCluster cluster = half_used();
  cluster.options.by_use.ceiling = 0.75;
  EXPECT_EQ(objections_to(cluster, uses(0.99)), Reasons{});
  EXPECT_EQ(objections_to(cluster, uses(1.01)), Reasons{"Expected use of cpu too high"});
}

TEST(UseFitFilter, LooksAtAllSixDimensions) {
  for (std::size_t d = 0; d < kDimensions; ++d) {
    TestCluster cluster(1);
    cluster.options.by_use.on = true;
    Demand demand;
    demand.mean.of[d] = 1.01 * cluster.state.node({0}).capacity.of[d];
    EXPECT_EQ(objections_to(cluster, demand),
              Reasons{"Expected use of " + std::string(kDimensionNames[d]) + " too high"});
  }
}

TEST(UseFitFilter, IgnoresDimensionsANodeSaysNothingAbout) {
  TestCluster cluster(1);
  cluster.options.by_use.on = true;
  Node node = test_node(0);
  node.capacity[Dimension::read] = 0;
  cluster.state.set_node(node);
  Demand demand;
  demand.mean[Dimension::read] = 1e12;
  EXPECT_EQ(objections_to(cluster, demand), Reasons{});
}

TEST(UseFitFilter, CountsPodsToo) {
  TestCluster cluster = half_used();
  Node node = test_node(0);
  node.max_pods = 1;
  cluster.state.set_node(node);
  EXPECT_EQ(objections_to(cluster, uses(0)), Reasons{"Too many pods"});
}

TEST(UseFitFilter, StepsAsideWhenRequestsCount) {
  TestCluster cluster = half_used();
  cluster.options.by_use.on = false;
  EXPECT_EQ(objections_to(cluster, uses(100)), Reasons{});
}

}  // namespace
}  // namespace evenkeel::scheduling
