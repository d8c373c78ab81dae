#include "scheduling/network_view.h"

#include <gtest/gtest.h>

#include "scheduling/test_networks.h"

namespace evenkeel::scheduling {
namespace {

// Two regions of two zones of two nodes: what upstream's own tests are about.
class NetworkViewTest : public testing::Test {
 protected:
  NetworkViewTest() {
    add_eight_nodes(state);
    state.set_object(eight_node_costs());
  }
  NetworkView view() { return view_network(state, arguments); }
  std::optional<std::int64_t> cost(std::uint32_t from, std::uint32_t to) {
    return view().cost(NodeId{from}, NodeId{to});
  }
  ClusterState state;
  NetworkArguments arguments;
};

TEST_F(NetworkViewTest, CostsNothingOnANodeOneInAZoneAndElseWhatIsListed) {
  EXPECT_EQ(cost(0, 0), 0);
  EXPECT_EQ(cost(0, 1), 1);
  EXPECT_EQ(cost(0, 2), 5);
  EXPECT_EQ(cost(4, 6), 10);
  EXPECT_EQ(cost(0, 4), 20);
}

TEST_F(NetworkViewTest, KnowsACostInOneDirectionOnly) {
  NetworkTopology topology = eight_node_costs();
  std::erase_if(topology.weights[0].levels[1].origins,
                [](const NetworkTopology::Origin& origin) { return origin.origin == "Z2"; });
  state.set_object(topology);
  EXPECT_EQ(cost(0, 2), 5);
  EXPECT_EQ(cost(2, 0), std::nullopt);
}

TEST_F(NetworkViewTest, CountsWhatIsUnknownAsDearerThanAnythingKnown) {
  EXPECT_EQ(view().links.unknown_cost(), 200);  // ten times the dearest
  state.set_node(placed_node(8, "", ""));
  EXPECT_EQ(cost(8, 0), std::nullopt);
  const NetworkView now = view();
  EXPECT_EQ(now.counted_cost(now.places.of({8}), now.places.of({0})), 200);
  state.set_node(placed_node(9, "", ""));
  EXPECT_EQ(cost(8, 9), std::nullopt);  // neither says where it is
}

TEST_F(NetworkViewTest, FollowsLabelsTopologiesAndNodesThatComeAndGo) {
  ASSERT_EQ(cost(0, 2), 5);
  state.set_node(placed_node(0, "us-west-1", "Z2"));
  EXPECT_EQ(cost(0, 2), 1);
  NetworkTopology topology = eight_node_costs();
  topology.weights[0].levels[0].origins[0].costs[0].cost = 33;
  state.set_object(topology);
  EXPECT_EQ(cost(0, 4), 33);
  state.remove_object(topology);
  EXPECT_EQ(cost(0, 4), std::nullopt);
  EXPECT_NE(view().links.missing(), "");
}

TEST_F(NetworkViewTest, TakesTheOnlyTopologyWhereNobodySaidWhich) {
  NetworkTopology topology = eight_node_costs();
  state.remove_object(topology);
  topology.name = "of-our-own";
  topology.name_space = "elsewhere";
  state.set_object(topology);
  EXPECT_EQ(cost(0, 2), 5);
  arguments.given = true;
  EXPECT_EQ(cost(0, 2), std::nullopt);
  arguments.namespaces = {"default", "elsewhere"};
  arguments.topology = "of-our-own";
  EXPECT_EQ(cost(0, 2), 5);
}

TEST_F(NetworkViewTest, KeepsItsNumbersWhateverAnybodyWrites) {
  NetworkTopology topology = eight_node_costs();
  topology.weights[0].levels[0].origins[0].costs[0].cost = std::numeric_limits<std::int64_t>::max();
  topology.weights[0].levels[1].origins[0].costs[0].cost = -7;
  topology.weights[0].levels[1].origins[0].costs[0].capacity = BitsPerSecond{-1};
  state.set_object(topology);
  EXPECT_EQ(cost(0, 4), LinkCosts::kDearest);
  EXPECT_EQ(view().links.unknown_cost(), 10 * LinkCosts::kDearest);
  EXPECT_EQ(cost(0, 2), std::nullopt);  // less than nothing is no cost
}

TEST_F(NetworkViewTest, IsNotSharedWithACopyOfTheCluster) {
  ASSERT_EQ(cost(0, 2), 5);
  ClusterState copy = state;
  copy.set_node(placed_node(0, "us-west-1", "Z2"));
  EXPECT_EQ(view_network(copy, arguments).cost(NodeId{0}, NodeId{2}), 1);
  EXPECT_EQ(cost(0, 2), 5);
}

}  // namespace
}  // namespace evenkeel::scheduling
