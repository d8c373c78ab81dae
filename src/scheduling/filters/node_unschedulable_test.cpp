#include <gtest/gtest.h>

#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

TestCluster one_cordoned() {
  TestCluster cluster(2);
  Node node = test_node(1);
  node.unschedulable = true;
  cluster.state.set_node(node);
  return cluster;
}

TEST(NodeUnschedulableFilter, KeepsPodsOffACordonedNode) {
  const TestCluster cluster = one_cordoned();
  EXPECT_EQ(cluster.passes(kNodeUnschedulable, pod_with({})), "10");
  EXPECT_EQ(cluster.objections_of(kNodeUnschedulable, pod_with({}), {1}),
            std::vector<std::string>{"node(s) were unschedulable"});
  EXPECT_TRUE(cluster.objections_of(kNodeUnschedulable, pod_with({}), {0}).empty());
}

TEST(NodeUnschedulableFilter, LetsThoseThroughWhoTolerateTheCordon) {
  PodSpec by_name, all, other;
  by_name.tolerations = {
      {"node.kubernetes.io/unschedulable", Toleration::Operator::exists, "", TaintEffect::no_schedule, {}}};
  all.tolerations = {{"", Toleration::Operator::exists, "", {}, {}}};
  other.tolerations = {
      {"node.kubernetes.io/unschedulable", Toleration::Operator::exists, "", TaintEffect::no_execute, {}}};
  EXPECT_EQ(one_cordoned().passes(kNodeUnschedulable, pod_with(by_name)), "11");
  EXPECT_EQ(one_cordoned().passes(kNodeUnschedulable, pod_with(all)), "11");
  EXPECT_EQ(one_cordoned().passes(kNodeUnschedulable, pod_with(other)), "10");
}

}  // namespace
}  // namespace evenkeel::scheduling
