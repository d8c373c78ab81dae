#include "scheduling/pod_network.h"

#include <gtest/gtest.h>

#include "scheduling/preemption.h"
#include "scheduling/scorers/scorer.h"
#include "scheduling/test_networks.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

constexpr std::int64_t kM = 1'000'000;

class PodNetworkTest : public testing::Test {
 protected:
  PodNetworkTest() {
    add_eight_nodes(cluster.state);
    cluster.state.set_object(eight_node_costs());
    enable_filter("NetworkFit", cluster.options.profile);
  }
  void group(const std::vector<TestEdge>& edges) { cluster.state.set_object(group_of("shop", edges)); }
  void capacity(std::int64_t zones, std::int64_t regions) {
    cluster.state.set_object(topology_of({{"us-west-1", "us-east-1", 20, regions}},
                                         {{"Z1", "Z2", 5, zones}, {"Z3", "Z4", 10, zones}}));
  }
  PodId run(const std::string& workload, std::uint32_t slot, PodSpec spec = spec_asking(100, 0)) {
    return cluster.add_running({slot}, member_shape("shop", workload, std::move(spec)));
  }
  static Pod waiting(const std::string& workload, PodSpec spec = spec_asking(100, 0)) {
    return test_pod({1, 1}, member_shape("shop", workload, std::move(spec)));
  }
  std::vector<std::int64_t> costs(const std::string& workload) {
    const Pod pod = waiting(workload);
    const PodNetwork network(pod, cluster.state, cluster.options.profile.network);
    std::vector<std::int64_t> of_node(cluster.state.columns().size());
    network.costs(of_node);
    for (std::uint32_t slot = 0; slot < of_node.size(); ++slot)
      EXPECT_EQ(network.cost({slot}), of_node[slot]);
    return of_node;
  }
  std::string passes(const std::string& workload) {
    const Pod pod = waiting(workload);
    const std::string all = cluster.passes(kNetworkFit, pod);
    for (std::uint32_t slot = 0; slot < all.size(); ++slot)
      EXPECT_EQ(all[slot] == '1', cluster.objections_of(kNetworkFit, pod, {slot}).empty()) << slot;
    return all;
  }
  std::string objection(const std::string& workload, std::uint32_t slot) {
    const auto said = cluster.objections_of(kNetworkFit, waiting(workload), {slot});
    return said.empty() ? "" : said.front();
  }
  TestCluster cluster;
};

TEST_F(PodNetworkTest, CountsAnEdgeInWhicheverDirectionItIsDeclared) {
  group({{"web", "api"}});
  run("web", 0);
  EXPECT_EQ(costs("api"), (std::vector<std::int64_t>{0, 1, 5, 5, 20, 20, 20, 20}));
  run("api", 4);
  run("api", 4);
  EXPECT_EQ(costs("web"), (std::vector<std::int64_t>{40, 40, 40, 40, 0, 2, 20, 20}));
}

TEST_F(PodNetworkTest, CountsAnUnknownCostAsDearerThanAnyKnownOne) {
  group({{"web", "api"}});
  cluster.state.set_node(placed_node(8, "us-west-1", "Z9"));
  run("web", 8);
  EXPECT_EQ(costs("api")[0], 200);
  EXPECT_EQ(costs("api")[8], 0);
  EXPECT_EQ(costs("api")[4], 20);
}

TEST_F(PodNetworkTest, KeepsToALimitWhereOneIsGivenAndTakesUnknownForTooFar) {
  group({{"web", "api", 0, 5}});
  run("web", 0);
  EXPECT_EQ(passes("api"), "11110000");
  EXPECT_EQ(objection("api", 4), "node(s) exceeded maxNetworkCost to pods of the same AppGroup");
  group({{"web", "api", 0, 0}});
  EXPECT_EQ(passes("api"), "10000000");
  group({{"web", "api"}});  // none given is no limit, whatever upstream takes it for
  EXPECT_EQ(passes("api"), "11111111");
  group({{"web", "api", 0, 5}});
  cluster.state.remove_object(eight_node_costs());  // then nothing can be said of limits
  EXPECT_EQ(passes("api"), "11111111");
}

TEST_F(PodNetworkTest, BooksNoMoreBetweenZonesThanThereIs) {
  capacity(25 * kM, 25 * kM);
  group({{"web", "api", 10 * kM}});
  run("web", 0);
  run("web", 0);
  EXPECT_EQ(passes("api"), "11111111");  // twenty of twenty-five
  run("api", 2);
  EXPECT_EQ(passes("api"), "11001111");
  EXPECT_EQ(objection("api", 2), "Insufficient bandwidth from zone Z1 to zone Z2");
  run("api", 4);
  EXPECT_EQ(passes("api"), "11000000");
  EXPECT_EQ(objection("api", 7), "Insufficient bandwidth from region us-west-1 to region us-east-1");
}

TEST_F(PodNetworkTest, BooksWhatThePodSendsAndWhatItReceives) {
  capacity(15 * kM, 100 * kM);
  group({{"web", "api", 10 * kM}, {"api", "db", 10 * kM}});
  run("web", 0);
  run("db", 0);
  // As api's own zone would have to take ten in and send ten out, each way has room.
  EXPECT_EQ(passes("api"), "11111111");
  run("web", 1);
  EXPECT_EQ(passes("api"), "11001111");
}

TEST_F(PodNetworkTest, TakesARegionsZonesForOneLink) {
  capacity(100 * kM, 15 * kM);
  group({{"web", "api", 10 * kM}});
  run("api", 4);
  run("api", 6);  // another zone of that region
  EXPECT_EQ(passes("web"), "00001111");
}

TEST_F(PodNetworkTest, BooksNoMoreOutOfANodeThanItMaySend) {
  group({{"web", "api", 10 * kM}});
  cluster.state.set_node(placed_node(0, "us-west-1", "Z1", 15 * kM));
  run("api", 2);
  EXPECT_EQ(passes("web"), "11111111");
  run("api", 0);
  run("api", 3);
  EXPECT_EQ(passes("web"), "01111111");  // twenty would leave it, ten stay
  EXPECT_EQ(objection("web", 0), "Insufficient bandwidth out of the node");
}

TEST_F(PodNetworkTest, BooksNoMoreOutOfTheNodesOfThoseThatTalkToThePod) {
  group({{"web", "api", 10 * kM}});
  cluster.state.set_node(placed_node(0, "us-west-1", "Z1", 15 * kM));
  run("web", 0);
  run("api", 2);
  EXPECT_EQ(passes("api"), "10000000");  // only where what web sends does not leave its node
  EXPECT_EQ(objection("api", 1), "Insufficient bandwidth out of nodes that hold pods of the same AppGroup");
  cluster.state.set_node(placed_node(5, "us-east-1", "Z3", 5 * kM));
  run("web", 5);
  EXPECT_EQ(passes("api"), "00000000");
}

TEST_F(PodNetworkTest, DoesNotHoldAnOverbookedLinkAgainstThoseWhoAddNothingToIt) {
  group({{"web", "api", 10 * kM}, {"web", "log"}});
  run("web", 0);
  run("api", 2);
  capacity(5 * kM, 5 * kM);  // less than is booked already
  EXPECT_EQ(passes("log"), "11111111");
  EXPECT_EQ(passes("api"), "11000000");
}

TEST_F(PodNetworkTest, SeesWhatEndingPodsWouldFree) {
  capacity(15 * kM, 5 * kM);
  group({{"web", "api", 10 * kM}});
  run("web", 0);
  const PodId low = run("api", 2);
  PodSpec spec = spec_asking(100, 0);
  spec.priority = 10;
  const Pod pod = waiting("api", spec);
  const Demand demand;
  for (const std::uint32_t slot : {0U, 1U})  // nothing else will do
    cluster.state.set_node(placed_node(slot, "us-west-1", "Z1"));
  const FilterInput input{pod, cluster.state, demand, cluster.options};
  ASSERT_FALSE(judge(input, {2}).objections.empty());
  Nominations none;
  const PreemptionOutcome outcome = preempt(input, cluster.state, none, cluster.now);
  ASSERT_TRUE(outcome.victims);
  EXPECT_EQ(outcome.victims->pods, std::vector<PodId>{low});
  EXPECT_EQ(objection("api", 2), "Insufficient bandwidth from zone Z1 to zone Z2");  // all as it was
}

TEST_F(PodNetworkTest, SaysWhatIsMissingAndTakesEveryNodeForAlike) {
  const auto missing = [&](const Pod& pod) {
    return PodNetwork(pod, cluster.state, cluster.options.profile.network).missing();
  };
  EXPECT_EQ(missing(waiting("api")), "no AppGroup 'shop' in namespace default");
  EXPECT_EQ(passes("api"), "11111111");
  group({{"web", "api"}});
  EXPECT_EQ(missing(waiting("cache")), "AppGroup 'shop' has no workload 'cache'");
  EXPECT_EQ(missing(waiting("api")), "");
  cluster.state.remove_object(eight_node_costs());
  EXPECT_EQ(missing(waiting("api")), "no NetworkTopology 'nt-default' in namespace default");
  EXPECT_EQ(missing(test_pod({1, 1}, member_shape("", ""))), "");
}

TEST_F(PodNetworkTest, ScoresByTheShareOfTheDearestCostThatANodeSaves) {
  group({{"web", "api"}});
  run("web", 0);
  const Pod pod = waiting("api");
  std::vector<float> totals(8);
  network_score(cluster.question(pod), 2, totals);
  EXPECT_EQ(totals, (std::vector<float>{200, 190, 150, 150, 0, 0, 0, 0}));
}

// Ten thousand workloads in a ring, each talking to the next, to itself and to one that does not exist, twice
// over.
TEST_F(PodNetworkTest, TakesGroupsThatAreHugeCyclicAndContradictory) {
  constexpr std::size_t kMany = 10'000;
  AppGroup group;
  group.name_space = "default";
  group.name = "shop";
  const auto named = [](std::size_t i) {
    return WorkloadReference{"Deployment", "w" + std::to_string(i), "w" + std::to_string(i), "", ""};
  };
  for (std::size_t i = 0; i < kMany; ++i) {
    AppWorkload& workload = group.workloads.emplace_back(AppWorkload{named(i % (kMany / 2)), {}});
    for (const std::size_t to : {i + 1, i, i + 1, kMany * 2}) {
      AppDependency dependency{named(to % kMany), {static_cast<std::int64_t>(i) * kM}, -5, i % 3 == 0};
      dependency.min_bandwidth = {to == i ? -kM : std::numeric_limits<std::int64_t>::max()};
      workload.dependencies.push_back(dependency);
    }
  }
  cluster.state.set_object(group);
  capacity(25 * kM, 25 * kM);
  for (std::uint32_t i = 0; i < 200; ++i) run("w" + std::to_string(i * 3), i % 8);
  EXPECT_EQ(passes("w1"), "10000000");  // beside w0, which may not talk to anybody elsewhere
  EXPECT_EQ(passes("no-such-workload"), "11111111");
}

TEST_F(PodNetworkTest, ListsEveryPairForPeople) {
  group({{"web", "api", 10 * kM, 7}, {"api", "web"}});
  run("web", 0);
  run("web", 2);
  const std::vector<PodEdge> edges = edges_of(waiting("api"), cluster.state, {});
  ASSERT_EQ(edges.size(), 4U);
  EXPECT_TRUE(edges[0].is_target);
  EXPECT_FALSE(edges[1].is_target);
  EXPECT_EQ(edges[1].bandwidth, 10 * kM);
  EXPECT_EQ(edges[1].max_cost, 7);
  EXPECT_EQ(edges[2].peer_node.slot, 2U);
}

}  // namespace
}  // namespace evenkeel::scheduling
