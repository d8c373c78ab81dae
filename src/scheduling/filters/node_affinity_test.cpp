#include <gtest/gtest.h>

#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

using enum SelectorOperator;

TestCluster three_nodes() {
  TestCluster cluster;
  Node node = test_node(0);
  node.labels = {{"disk", "ssd"}, {"zone", "a"}};
  cluster.state.set_node(node);
  node = test_node(1);
  node.labels = {{"disk", "hdd"}, {"zone", "b"}, {"cores", "32"}};
  cluster.state.set_node(node);
  cluster.state.set_node(test_node(2));
  return cluster;
}

std::string passes(PodSpec spec) { return three_nodes().passes(kNodeAffinity, pod_with(std::move(spec))); }

PodSpec requires_any_of(std::vector<NodeSelectorTerm> terms) {
  PodSpec spec;
  spec.node_affinity.required = std::move(terms);
  return spec;
}

TEST(NodeAffinityFilter, LetsPodsWithoutWishesGoAnywhere) {
  EXPECT_EQ(passes({}), "111");
  PodSpec preferring;
  preferring.node_affinity.preferred = {{100, {{{"zone", in, {"a"}}}, {}}}};
  EXPECT_EQ(passes(preferring), "111");  // a preference rules nobody out
}

TEST(NodeAffinityFilter, NeedsEveryLabelOfTheSelector) {
  PodSpec spec;
  spec.node_selector = {{"disk", "ssd"}};
  EXPECT_EQ(passes(spec), "100");
  spec.node_selector.set("zone", "b");
  EXPECT_EQ(passes(spec), "000");
}

TEST(NodeAffinityFilter, NeedsOneTermOfWhichEveryExpressionHolds) {
  EXPECT_EQ(passes(requires_any_of({{{{"disk", in, {"ssd"}}, {"zone", in, {"a"}}}, {}}})), "100");
  EXPECT_EQ(passes(requires_any_of({{{{"disk", in, {"ssd"}}, {"zone", in, {"b"}}}, {}}})), "000");
  EXPECT_EQ(passes(requires_any_of({{{{"disk", in, {"ssd"}}}, {}}, {{{"cores", greater_than, {"16"}}}, {}}})),
            "110");
  EXPECT_EQ(passes(requires_any_of({{{{"disk", not_in, {"ssd"}}}, {}}})), "011");
}

TEST(NodeAffinityFilter, NeedsSelectorAndAffinityBoth) {
  PodSpec spec = requires_any_of({{{{"disk", exists, {}}}, {}}});
  spec.node_selector = {{"zone", "b"}};
  EXPECT_EQ(passes(spec), "010");
}

TEST(NodeAffinityFilter, SelectsByTheNodesNameToo) {
  EXPECT_EQ(passes(requires_any_of({{{}, {{"metadata.name", in, {"node-2"}}}}})), "001");
  EXPECT_EQ(passes(requires_any_of({{{}, {{"metadata.name", not_in, {"node-2"}}}}})), "110");
}

TEST(NodeAffinityFilter, TakesAnEmptyTermOrNoTermForNobody) {
  EXPECT_EQ(passes(requires_any_of({})), "000");
  EXPECT_EQ(passes(requires_any_of({{}})), "000");
  EXPECT_EQ(passes(requires_any_of({{}, {{{"zone", in, {"a"}}}, {}}})), "100");
}

TEST(NodeAffinityFilter, ObjectsInKubeSchedulersWords) {
  PodSpec spec;
  spec.node_selector = {{"disk", "ssd"}};
  const TestCluster cluster = three_nodes();
  EXPECT_EQ(cluster.objections_of(kNodeAffinity, pod_with(spec), {1}),
            std::vector<std::string>{"node(s) didn't match Pod's node affinity/selector"});
  EXPECT_TRUE(cluster.objections_of(kNodeAffinity, pod_with(spec), {0}).empty());
}

}  // namespace
}  // namespace evenkeel::scheduling
