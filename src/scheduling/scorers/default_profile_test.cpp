// Scores worked out by hand from kube-scheduler's formulas.
#include <gtest/gtest.h>

#include <cmath>

#include "scheduling/policies/weighted_scores.h"
#include "scheduling/scorers/scorer.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

// Nodes 0 and 1 in zone a, 2 in zone b.
TestCluster zones() {
  TestCluster cluster(3);
  const char* zone[] = {"a", "a", "b"};
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    Node node = test_node(slot);
    node.labels = {{"topology.kubernetes.io/zone", zone[slot]}, {"kubernetes.io/hostname", node.name}};
    cluster.state.set_node(node);
  }
  return cluster;
}

std::shared_ptr<const PodTemplate> app(const std::string& name, PodSpec spec = spec_asking(1, 1),
                                       std::vector<OwnerReference> owners = {}) {
  return std::make_shared<const PodTemplate>("default", Labels{{"app", name}}, std::move(owners),
                                             WorkloadId{}, std::move(spec));
}

LabelSelector selecting(const std::string& name) { return {{{"app", SelectorOperator::in, {name}}}}; }

std::vector<float> scores(TestCluster& cluster, std::string_view plugin, const Pod& pod) {
  const PlacementRequest request = cluster.question(pod);
  for (const Scorer& scorer : kube_default_scorers(KubeVersion::v1_36)) {
    if (scorer.plugin != plugin) continue;
    std::vector<float> totals(request.feasible.size(), scorer.matters(request) ? 0 : scorer.idle);
    if (scorer.matters(request)) scorer.add(request, 1, totals);
    return totals;
  }
  return {};
}

using Scores = std::vector<float>;

TEST(PodTopologySpreadScore, FavoursTheDomainsWithFewerPodsThatMatch) {
  TestCluster cluster = zones();
  for (int i = 0; i < 3; ++i) cluster.add_running({0}, app("web"));
  cluster.add_running({2}, app("web"));
  PodSpec spec = spec_asking(1, 1);
  TopologySpreadConstraint soft;
  soft.do_not_schedule = false;
  soft.topology_key = "topology.kubernetes.io/zone";
  soft.selector = selecting("web");
  spec.spread = {soft};
  // Two domains: round(3 ln 4) = 4 and round(1 ln 4) = 1; 100 * (4 + 1 - s) / 4.
  EXPECT_EQ(scores(cluster, "PodTopologySpread", test_pod({1, 1}, app("web", spec))), (Scores{25, 25, 100}));
}

TEST(PodTopologySpreadScore, SpreadsPodsOfAServiceByTheSystemsDefaults) {
  TestCluster cluster = zones();
  cluster.add_running({0}, app("web"));
  const Pod pod = test_pod({1, 1}, app("web"));
  EXPECT_EQ(scores(cluster, "PodTopologySpread", pod), (Scores{0, 0, 0}));  // nobody selects it
  cluster.state.set_object(PodController{PodController::Kind::service, "default", "web", selecting("web")});
  // Hosts: ln 5 for node 0; zones: ln 4 for zone a; 2 + 4 besides: 9, 7, 6; 100 * (9 + 6 - s) / 9.
  EXPECT_EQ(scores(cluster, "PodTopologySpread", pod), (Scores{66, 88, 100}));
}

TEST(PodTopologySpreadScore, TakesTheSelectorOfThePodsReplicaSet) {
  TestCluster cluster = zones();
  cluster.add_running({0}, app("web"));
  const Pod pod =
      test_pod({1, 1}, app("web", spec_asking(1, 1), {{"ReplicaSet", "rs", "", true, "apps/v1"}}));
  EXPECT_EQ(scores(cluster, "PodTopologySpread", pod), (Scores{0, 0, 0}));  // no such ReplicaSet
  cluster.state.set_object(
      PodController{PodController::Kind::replica_set, "default", "rs", selecting("web")});
  EXPECT_EQ(scores(cluster, "PodTopologySpread", pod), (Scores{66, 88, 100}));
}

PreferredPodTerm preferring(const std::string& name, std::int32_t weight) {
  PodAffinityTerm term;
  term.selector = selecting(name);
  term.topology_key = "topology.kubernetes.io/zone";
  return {weight, term};
}

TEST(InterPodAffinityScore, SumsWhatThePodPrefersAndStretchesIt) {
  TestCluster cluster = zones();
  cluster.add_running({0}, app("db"));
  cluster.add_running({2}, app("noise"));
  PodSpec spec = spec_asking(1, 1);
  spec.pod_affinity.preferred = {preferring("db", 10)};
  spec.pod_anti_affinity.preferred = {preferring("noise", 30)};
  EXPECT_EQ(scores(cluster, "InterPodAffinity", test_pod({1, 1}, app("web", spec))), (Scores{100, 100, 0}));
}

TEST(InterPodAffinityScore, HeedsWhatOthersPreferOfThePod) {
  TestCluster cluster = zones();
  PodSpec likes = spec_asking(1, 1), needs = spec_asking(1, 1);
  likes.pod_affinity.preferred = {preferring("web", 4)};
  needs.pod_affinity.required = {preferring("web", 0).term};
  cluster.add_running({0}, app("web"));
  cluster.add_running({2}, app("a", likes));
  cluster.add_running({0}, app("b", needs));
  const Pod pod = test_pod({1, 1}, app("web"));
  EXPECT_EQ(scores(cluster, "InterPodAffinity", pod), (Scores{0, 0, 100}));  // 1 (hard) against 4
  cluster.options.profile.hard_pod_affinity_weight = 8;
  EXPECT_EQ(scores(cluster, "InterPodAffinity", pod), (Scores{100, 100, 0}));
  cluster.options.profile.ignore_preferred_terms_of_existing_pods = true;
  EXPECT_EQ(scores(cluster, "InterPodAffinity", pod), (Scores{0, 0, 0}));
}

TEST(ImageLocality, CountsBytesTheNodeHasByHowManyNodesHaveThem) {
  TestCluster cluster(2);
  Node node = test_node(0);
  node.images = {{"registry/app:latest", Bytes{400LL << 20}}};
  cluster.state.set_node(node);
  PodSpec spec = spec_asking(1, 1);
  spec.containers.front().image = "registry/app";
  // 400 MiB on one of two nodes: 200; 100 * (200 - 23) / (1000 - 23) = 18.
  EXPECT_EQ(scores(cluster, "ImageLocality", pod_with(spec)), (Scores{18, 0}));
  node.images.clear();
  cluster.state.set_node(node);
  EXPECT_EQ(scores(cluster, "ImageLocality", pod_with(spec)), (Scores{0, 0}));
}

TEST(NodeResourcesFit, ScoresByWhateverStrategyAndResourcesTheProfileNames) {
  TestCluster cluster(1);
  Node node = test_node(0, 1000, 1000);
  node.allocatable.set_extended("gpu", 4);
  cluster.state.set_node(node);
  PodSpec spec = spec_asking(500, 250);
  spec.containers.front().requests.set_extended("gpu", 1);
  const Pod pod = pod_with(spec);
  Profile& profile = cluster.options.profile;
  EXPECT_EQ(scores(cluster, "NodeResourcesFit", pod), (Scores{62}));  // (50 + 75) / 2
  profile.fit_resources = {{"cpu", 1}, {"memory", 1}, {"gpu", 2}};
  EXPECT_EQ(scores(cluster, "NodeResourcesFit", pod), (Scores{68}));  // (50 + 75 + 2 * 75) / 4
  profile.fit = FitStrategy::most_allocated;
  EXPECT_EQ(scores(cluster, "NodeResourcesFit", pod), (Scores{31}));  // (50 + 25 + 2 * 25) / 4
  profile.fit = FitStrategy::requested_to_capacity_ratio;
  profile.fit_shape = {{0, 0}, {100, 10}};
  EXPECT_EQ(scores(cluster, "NodeResourcesFit", pod), (Scores{31}));  // round(125 / 4)
  EXPECT_EQ(scores(cluster, "NodeResourcesBalancedAllocation", pod),
            (Scores{68}));  // 50 + (50 + 87 - 100) / 2, cut
  profile.balanced_resources = {{"cpu", 1}, {"memory", 1}, {"gpu", 1}};
  // 0.5, 0.25, 0.25 deviate by 0.1178: 88.
  EXPECT_EQ(scores(cluster, "NodeResourcesBalancedAllocation", pod), (Scores{69}));
}

TEST(WeightedScores, UsesTheProfilesPluginsAndWeights) {
  TestCluster cluster(2);
  cluster.options.profile.scorers = std::vector<ScorePlugin>{{"NodeResourcesFit", 7}};
  const Pod pod = pod_with(spec_asking(1000, 1LL << 30));
  WeightedScores policy;
  const ScoreSheet sheet = policy.explain(cluster.question(pod));
  EXPECT_EQ(sheet.terms, std::vector<std::string>{"NodeResourcesFit"});
  EXPECT_EQ(sheet.rows.front().total, 7 * 81);  // (75 + 87) / 2
}

}  // namespace
}  // namespace evenkeel::scheduling
