// What upstream's own unit tests ask of NetworkOverhead (scheduler-plugins v0.34.7), on their cluster of
// eight nodes, and what it does not survive.
#include "scheduling/network_overhead.h"

#include <gtest/gtest.h>

#include "scheduling/scorers/scorer.h"
#include "scheduling/test_networks.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

class NetworkOverheadTest : public testing::Test {
 protected:
  NetworkOverheadTest() {
    add_eight_nodes(cluster.state);
    cluster.state.set_object(eight_node_costs());
    cluster.state.set_object(group_of("basic", {{"p1", "p2"}, {"p2", "p3"}}));
    enable_filter("NetworkOverhead", cluster.options.profile);
  }
  void run(const std::string& workload, std::uint32_t node_number,
           const std::string& name_space = "default") {
    cluster.add_running({node_number - 1}, member_shape("basic", workload, spec_asking(100, 0), name_space));
  }
  static Pod waiting(const std::string& workload, const std::string& group = "basic") {
    return test_pod({1, 1}, member_shape(group, workload));
  }
  std::string objection(const std::string& workload, std::uint32_t node_number,
                        const std::string& group = "basic") {
    const auto said = cluster.objections_of(kNetworkOverhead, waiting(workload, group), {node_number - 1});
    return said.empty() ? "" : said.front();
  }
  std::vector<std::int64_t> costs(const std::string& workload) {
    const Pod pod = waiting(workload);
    std::vector<std::int64_t> of_node(8);
    NetworkOverhead(pod, cluster.state, cluster.options.profile.network).costs(of_node);
    return of_node;
  }
  // Of nodes that no filter is asked about.
  std::vector<int> scores(const std::string& workload) {
    const Pod pod = waiting(workload);
    const std::vector<std::uint8_t> all(8, 1);
    const PlacementRequest request{
        pod, cluster.state, cluster.history, cluster.runs, cluster.options, cluster.now, {}, all, 8};
    std::vector<float> totals(8);
    network_overhead(request, 1, totals);
    return {totals.begin(), totals.end()};
  }
  TestCluster cluster;
};

TEST_F(NetworkOverheadTest, FiltersAsInUpstreamsTable) {
  run("p1", 2);
  run("p2", 5);
  run("p3", 8);
  const auto refused = [](const std::string& node) {
    return "Node " + node +
           " does not meet several network requirements from Workload dependencies: Satisfied: 0 Violated: 1";
  };
  EXPECT_EQ(objection("p1", 1), refused("n-1"));
  EXPECT_EQ(objection("p1", 6), "");
  EXPECT_EQ(objection("p2", 5), refused("n-5"));
  EXPECT_EQ(objection("p2", 7), "");
  EXPECT_EQ(objection("p3", 1), "");
  EXPECT_EQ(objection("p10", 1, ""), "");
  // Upstream's last two are the first two, of a pod that has more dependencies.
  cluster.state.set_object(group_of("basic", {{"p1", "p2"}, {"p1", "p4"}, {"p2", "p3"}}));
  EXPECT_EQ(objection("p1", 1), refused("n-1"));
  EXPECT_EQ(objection("p1", 6), "");
}

TEST_F(NetworkOverheadTest, ScoresAsInUpstreamsTable) {
  run("p1", 2);
  run("p2", 5);
  run("p3", 1);
  EXPECT_EQ(costs("p1"), (std::vector<std::int64_t>{20, 20, 20, 20, 0, 1, 10, 10}));
  EXPECT_EQ(scores("p1"), (std::vector<int>{0, 0, 0, 0, 100, 95, 50, 50}));
  EXPECT_EQ(costs("p2"), (std::vector<std::int64_t>{0, 1, 5, 5, 20, 20, 20, 20}));
  EXPECT_EQ(scores("p2"), (std::vector<int>{100, 95, 75, 75, 0, 0, 0, 0}));
  EXPECT_EQ(scores("p3"), std::vector<int>(8, 0));
}

TEST_F(NetworkOverheadTest, IsAMajorityVoteAndTiesPass) {
  run("p2", 5);  // violated from n-1
  run("p2", 1);  // satisfied
  EXPECT_EQ(objection("p1", 1), "");
  run("p2", 7);
  EXPECT_NE(objection("p1", 1).find("Satisfied: 1 Violated: 2"), std::string::npos);
}

TEST_F(NetworkOverheadTest, CountsPodsOfEveryNamespaceAndADependencyThatIsListedTwiceTwice) {
  run("p2", 5, "elsewhere");
  EXPECT_EQ(costs("p1")[0], 20);
  cluster.state.set_object(group_of("basic", {{"p1", "p2"}, {"p1", "p2"}}));
  EXPECT_EQ(costs("p1")[0], 40);
}

TEST_F(NetworkOverheadTest, TakesAnUnknownCostForAHundredAndForNeitherSatisfiedNorViolated) {
  NetworkTopology topology = eight_node_costs();
  topology.weights[0].levels[0].origins.clear();  // nothing between regions
  cluster.state.set_object(topology);
  run("p2", 5);
  EXPECT_EQ(costs("p1")[0], 100);
  EXPECT_EQ(objection("p1", 1), "");
}

TEST_F(NetworkOverheadTest, TakesAPeerOnANodeWithoutLabelsForAsFarAsCanBe) {
  cluster.state.set_node(placed_node(4, "", ""));
  run("p2", 5);
  const auto found = costs("p1");
  EXPECT_EQ(found[4], 0);
  EXPECT_EQ(found[0], 100);
  EXPECT_NE(objection("p1", 1), "");
  EXPECT_EQ(objection("p1", 5), "");
}

TEST_F(NetworkOverheadTest, LetsAZoneSpeakForARegionOfTheSameName) {
  for (std::uint32_t slot = 0; slot < 8; ++slot) {
    const std::string both = slot < 4 ? "here" : "there";
    cluster.state.set_node(placed_node(slot, both, both));
  }
  cluster.state.set_object(topology_of({{"here", "there", 20}}, {{"here", "there", 7}}));
  run("p2", 5);
  EXPECT_EQ(costs("p1")[0], 7);
}

TEST_F(NetworkOverheadTest, SurvivesWhatUpstreamDoesNotAndSaysWhatIsMissing) {
  run("p2", 5);
  const Pod pod = waiting("p1");
  const NetworkArguments& arguments = cluster.options.profile.network;
  cluster.state.remove_object(eight_node_costs());
  NetworkOverhead without_topology(pod, cluster.state, arguments);
  EXPECT_TRUE(without_topology.scores_equally());
  EXPECT_NE(without_topology.missing().find("no NetworkTopology 'nt-default'"), std::string::npos);
  cluster.state.set_object(eight_node_costs());
  cluster.state.remove_object(group_of("basic", {}));
  NetworkOverhead without_group(pod, cluster.state, arguments);
  EXPECT_TRUE(without_group.scores_equally());
  EXPECT_NE(without_group.missing().find("no AppGroup 'basic'"), std::string::npos);
  EXPECT_EQ(cluster.passes(kNetworkOverhead, pod), "11111111");
}

TEST_F(NetworkOverheadTest, LeavesOutPodsWhoseNodeIsGone) {
  run("p2", 5);
  run("p2", 1);
  cluster.state.remove_node({4});
  EXPECT_EQ(costs("p1")[0], 0);  // upstream would give up the whole group
}

TEST_F(NetworkOverheadTest, LooksAtAllNodesAsAtEachOne) {
  run("p2", 5);
  run("p2", 1);
  run("p2", 8);
  cluster.state.set_node(placed_node(2, "", ""));
  const Pod pod = waiting("p1");
  const std::string all = cluster.passes(kNetworkOverhead, pod);
  for (std::uint32_t slot = 0; slot < 8; ++slot)
    EXPECT_EQ(all[slot] == '1', objection("p1", slot + 1).empty()) << slot;
}

}  // namespace
}  // namespace evenkeel::scheduling
