#include <gtest/gtest.h>

#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

// Nodes 0 and 1 in zone a, 2 in zone b, 3 without a zone.
TestCluster zones() {
  TestCluster cluster(4);
  const char* zone[] = {"a", "a", "b"};
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    Node node = test_node(slot);
    node.labels.set("zone", zone[slot]);
    cluster.state.set_node(node);
  }
  return cluster;
}

PodAffinityTerm near(const std::string& app, const std::string& key = "zone") {
  PodAffinityTerm term;
  term.selector = LabelSelector{{{"app", SelectorOperator::in, {app}}}};
  term.topology_key = key;
  return term;
}

std::shared_ptr<const PodTemplate> app(const std::string& name, std::vector<PodAffinityTerm> with = {},
                                       std::vector<PodAffinityTerm> apart = {},
                                       std::string name_space = "default") {
  PodSpec spec = spec_asking(1, 1);
  spec.pod_affinity.required = std::move(with);
  spec.pod_anti_affinity.required = std::move(apart);
  return std::make_shared<const PodTemplate>(std::move(name_space), Labels{{"app", name}},
                                             std::vector<OwnerReference>{}, WorkloadId{}, std::move(spec));
}

std::string passes(const TestCluster& cluster, std::shared_ptr<const PodTemplate> shape) {
  return cluster.passes(kInterPodAffinity, test_pod({1, 1}, std::move(shape)));
}

TEST(InterPodAffinity, KeepsToTheDomainsOfThePodsItWants) {
  TestCluster cluster = zones();
  cluster.add_running({0}, app("db"));
  EXPECT_EQ(passes(cluster, app("web", {near("db")})), "1100");
  EXPECT_EQ(passes(cluster, app("web", {near("cache")})), "0000");
}

TEST(InterPodAffinity, LetsTheFirstOfASeriesThatWantsItselfStartWhereTheLabelIs) {
  TestCluster cluster = zones();
  EXPECT_EQ(passes(cluster, app("web", {near("web")})), "1110");
  cluster.add_running({2}, app("web"));
  EXPECT_EQ(passes(cluster, app("web", {near("web")})), "0010");
}

TEST(InterPodAffinity, WantsOnePodThatAllItsTermsMean) {
  TestCluster cluster = zones();
  PodAffinityTerm tier = near("db");
  tier.selector = LabelSelector{{{"tier", SelectorOperator::exists, {}}}};
  cluster.add_running({0}, app("db"));
  EXPECT_EQ(passes(cluster, app("web", {near("db"), tier})), "0000");
}

TEST(InterPodAffinity, StaysOutOfTheDomainsOfPodsItDoesNotWant) {
  TestCluster cluster = zones();
  cluster.add_running({2}, app("web"));
  EXPECT_EQ(passes(cluster, app("web", {}, {near("web")})), "1101");
}

TEST(InterPodAffinity, StaysOutOfTheDomainsOfPodsThatDoNotWantIt) {
  TestCluster cluster = zones();
  const PodId shy = cluster.add_running({0}, app("db", {}, {near("web")}));
  EXPECT_EQ(passes(cluster, app("web")), "0011");
  EXPECT_EQ(passes(cluster, app("db")), "1111");
  const Pod pod = test_pod({1, 1}, app("web"));
  EXPECT_EQ(cluster.objections_of(kInterPodAffinity, pod, {1}),
            std::vector<std::string>{"node(s) didn't satisfy existing pods anti-affinity rules"});
  cluster.state.remove_pod(shy);
  EXPECT_EQ(passes(cluster, app("web")), "1111");
}

TEST(InterPodAffinity, SaysWhichRuleWasBrokenAndWhetherEndingPodsWouldHelp) {
  TestCluster cluster = zones();
  cluster.add_running({0}, app("web"));
  const Pod with = test_pod({1, 1}, app("x", {near("db")}));
  const Pod apart = test_pod({1, 1}, app("x", {}, {near("web")}));
  const NodeVerdict missing = judge({with, cluster.state, {}, cluster.options}, {0});
  const NodeVerdict unwanted = judge({apart, cluster.state, {}, cluster.options}, {0});
  EXPECT_EQ(missing.objections.front().reason, "node(s) didn't match pod affinity rules");
  EXPECT_TRUE(missing.unresolvable);
  EXPECT_EQ(unwanted.objections.front().reason, "node(s) didn't match pod anti-affinity rules");
  EXPECT_FALSE(unwanted.unresolvable);
}

TEST(InterPodAffinity, LooksIntoTheNamespacesItNamesOrSelects) {
  TestCluster cluster = zones();
  cluster.state.set_object(Namespace{"shop", {{"team", "a"}}});
  cluster.add_running({0}, app("db", {}, {}, "shop"));
  EXPECT_EQ(passes(cluster, app("web", {near("db")})), "0000");
  PodAffinityTerm term = near("db");
  term.namespaces = {"shop"};
  EXPECT_EQ(passes(cluster, app("web", {term})), "1100");
  term.namespaces.clear();
  term.namespace_selector = LabelSelector{{{"team", SelectorOperator::in, {"a"}}}};
  EXPECT_EQ(passes(cluster, app("web", {term})), "1100");
  term.namespace_selector = LabelSelector{};  // every namespace
  EXPECT_EQ(passes(cluster, app("web", {term})), "1100");
  term.namespace_selector = LabelSelector{{{"team", SelectorOperator::in, {"b"}}}};
  EXPECT_EQ(passes(cluster, app("web", {term})), "0000");
}

TEST(InterPodAffinity, MatchesOthersNamespaceSelectorsAgainstThePodsOwnNamespace) {
  TestCluster cluster = zones();
  PodAffinityTerm term = near("web");
  term.namespace_selector = LabelSelector{{{"team", SelectorOperator::in, {"a"}}}};
  cluster.add_running({0}, app("db", {}, {term}, "shop"));
  EXPECT_EQ(passes(cluster, app("web")), "1111");
  cluster.state.set_object(Namespace{"default", {{"team", "a"}}});
  EXPECT_EQ(passes(cluster, app("web")), "0011");
}

TEST(InterPodAffinity, ATermWithoutASelectorMeansNobody) {
  TestCluster cluster = zones();
  cluster.add_running({0}, app("web"));
  PodAffinityTerm term = near("web");
  term.selector.reset();
  EXPECT_EQ(passes(cluster, app("web", {term})), "0000");
  EXPECT_EQ(passes(cluster, app("web", {}, {term})), "1111");
}

}  // namespace
}  // namespace evenkeel::scheduling
