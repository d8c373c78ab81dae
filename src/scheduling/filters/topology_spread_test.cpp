#include <gtest/gtest.h>

#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

constexpr const char* kUneven = "node(s) didn't match pod topology spread constraints";

// Nodes 0 and 1 in zone a, 2 in zone b, 3 without a zone.
TestCluster zones() {
  TestCluster cluster(4);
  const char* zone[] = {"a", "a", "b"};
  for (std::uint32_t slot = 0; slot < 4; ++slot) {
    Node node = test_node(slot);
    if (slot < 3) node.labels.set("zone", zone[slot]);
    node.labels.set("kubernetes.io/hostname", node.name);
    cluster.state.set_node(node);
  }
  return cluster;
}

TopologySpreadConstraint over(const std::string& key, std::int32_t skew = 1) {
  TopologySpreadConstraint constraint;
  constraint.max_skew = skew;
  constraint.topology_key = key;
  constraint.selector = LabelSelector{{{"app", SelectorOperator::in, {"web"}}}};
  return constraint;
}

std::shared_ptr<const PodTemplate> web(std::vector<TopologySpreadConstraint> spread,
                                       PodSpec spec = spec_asking(1, 1), Labels labels = {{"app", "web"}}) {
  spec.spread = std::move(spread);
  return std::make_shared<const PodTemplate>("default", std::move(labels), std::vector<OwnerReference>{},
                                             WorkloadId{}, std::move(spec));
}

std::string passes(const TestCluster& cluster, std::shared_ptr<const PodTemplate> shape) {
  return cluster.passes(kPodTopologySpread, test_pod({1, 1}, std::move(shape)));
}

TEST(PodTopologySpread, AllowsNoMoreThanMaxSkewAboveTheEmptiestDomain) {
  TestCluster cluster = zones();
  EXPECT_EQ(passes(cluster, web({over("zone")})), "1110");
  cluster.add_running({0}, web({}));
  EXPECT_EQ(passes(cluster, web({over("zone")})), "0010");
  EXPECT_EQ(passes(cluster, web({over("zone", 2)})), "1110");
  cluster.add_running({2}, web({}));
  EXPECT_EQ(passes(cluster, web({over("zone")})), "1110");
}

TEST(PodTopologySpread, SaysWhetherEndingPodsWouldHelp) {
  TestCluster cluster = zones();
  cluster.add_running({0}, web({}));
  const Pod pod = test_pod({1, 1}, web({over("zone")}));
  const FilterInput input{pod, cluster.state, {}, cluster.options};
  EXPECT_EQ(judge(input, {0}).objections.front().reason, kUneven);
  EXPECT_FALSE(judge(input, {0}).unresolvable);
  EXPECT_EQ(judge(input, {3}).objections.front().reason, std::string(kUneven) + " (missing required label)");
  EXPECT_TRUE(judge(input, {3}).unresolvable);
}

TEST(PodTopologySpread, CountsNoPodsOfOtherNamespacesNorThoseThatAreEnding) {
  TestCluster cluster = zones();
  cluster.state.found(test_pod({50, 1}, std::make_shared<const PodTemplate>("other", Labels{{"app", "web"}},
                                                                            std::vector<OwnerReference>{},
                                                                            WorkloadId{}, spec_asking(1, 1))),
                      {0}, {}, {});
  Pod ending = test_pod({51, 1}, web({}));
  ending.terminating = true;
  cluster.state.found(ending, {0}, {}, {});
  EXPECT_EQ(passes(cluster, web({over("zone")})), "1110");
}

TEST(PodTopologySpread, TakesTheFewestAsZeroWhenThereAreFewerThanMinDomains) {
  TestCluster cluster = zones();
  cluster.add_running({0}, web({}));
  cluster.add_running({2}, web({}));
  TopologySpreadConstraint constraint = over("zone");
  EXPECT_EQ(passes(cluster, web({constraint})), "1110");
  constraint.min_domains = 3;
  EXPECT_EQ(passes(cluster, web({constraint})), "0000");
}

TEST(PodTopologySpread, LeavesOutNodesThePodMayNotUseUnlessToldToIgnoreThat) {
  TestCluster cluster = zones();
  cluster.add_running({0}, web({}));
  PodSpec only_a = spec_asking(1, 1);
  only_a.node_selector = {{"zone", "a"}};
  TopologySpreadConstraint constraint = over("zone");
  EXPECT_EQ(passes(cluster, web({constraint}, only_a)),
            "1110");  // zone a alone counts: its one is the fewest
  constraint.honor_node_affinity = false;
  EXPECT_EQ(passes(cluster, web({constraint}, only_a)), "0010");
}

TEST(PodTopologySpread, HonoursTaintsWhereAskedTo) {
  TestCluster cluster = zones();
  cluster.add_running({0}, web({}));
  Node tainted = cluster.state.node({2});
  tainted.taints = {{"gpu", "", TaintEffect::no_schedule}};
  cluster.state.set_node(tainted);
  TopologySpreadConstraint constraint = over("zone");
  EXPECT_EQ(passes(cluster, web({constraint})), "0010");
  constraint.honor_node_taints = true;
  EXPECT_EQ(passes(cluster, web({constraint})), "1110");
}

TEST(PodTopologySpread, CountsOnlyPodsAlikeInMatchLabelKeys) {
  TestCluster cluster = zones();
  cluster.add_running({0}, web({}, spec_asking(1, 1), {{"app", "web"}, {"revision", "1"}}));
  TopologySpreadConstraint constraint = over("zone");
  constraint.match_label_keys = {"revision"};
  EXPECT_EQ(passes(cluster, web({constraint}, spec_asking(1, 1), {{"app", "web"}, {"revision", "2"}})),
            "1110");
  EXPECT_EQ(passes(cluster, web({constraint}, spec_asking(1, 1), {{"app", "web"}, {"revision", "1"}})),
            "0010");
}

TEST(PodTopologySpread, WithSeveralConstraintsCountsNodesThatHaveAllTheirLabels) {
  TestCluster cluster = zones();
  cluster.add_running({0}, web({}));
  // Node 3 has a hostname but no zone: it is no host domain either.
  EXPECT_EQ(passes(cluster, web({over("zone", 2), over("kubernetes.io/hostname")})), "0110");
}

TEST(PodTopologySpread, MayBeGivenByTheProfileToPodsOfAService) {
  TestCluster cluster = zones();
  TopologySpreadConstraint constraint = over("zone");
  constraint.selector.reset();
  cluster.options.profile.default_spread = std::vector{constraint};
  cluster.add_running({0}, web({}));
  EXPECT_EQ(passes(cluster, web({})), "1111");  // nobody selects it
  cluster.state.set_object(PodController{PodController::Kind::service, "default", "web",
                                         LabelSelector{{{"app", SelectorOperator::in, {"web"}}}}});
  EXPECT_EQ(passes(cluster, web({})), "0010");
}

}  // namespace
}  // namespace evenkeel::scheduling
