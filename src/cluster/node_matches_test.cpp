#include "cluster/node_matches.h"

#include <gtest/gtest.h>

#include "cluster/cluster_state.h"
#include "cluster/test_objects.h"

namespace evenkeel {
namespace {

Node labelled(std::uint32_t slot, const std::string& disk) {
  Node node = test_node(slot);
  node.labels.set("disk", disk);
  return node;
}

std::string flags(std::span<const std::uint8_t> answer) {
  std::string text;
  for (const std::uint8_t flag : answer) text += static_cast<char>('0' + flag);
  return text;
}

TEST(NodeMatches, KeepsUpWithNodesThatChange) {
  ClusterState cluster;
  cluster.set_node(labelled(0, "ssd"));
  cluster.set_node(labelled(1, "hdd"));
  const NodeQuery by_label{{{"disk", "ssd"}}, {}, true};
  const NodeQuery by_term{{}, {{{{"disk", SelectorOperator::not_in, {"ssd"}}}, {}}}, false};
  EXPECT_EQ(flags(cluster.nodes_meant(by_label)), "10");
  EXPECT_EQ(flags(cluster.nodes_meant(by_term)), "01");
  cluster.set_node(labelled(1, "ssd"));
  cluster.set_node(labelled(3, "ssd"));
  EXPECT_EQ(flags(cluster.nodes_meant(by_label)).substr(0, 2), "11");
  EXPECT_EQ(cluster.nodes_meant(by_label)[3], 1);
  EXPECT_EQ(flags(cluster.nodes_meant(by_term)).substr(0, 2), "00");
}

TEST(NodeMatches, NoTermAtAllMeansNoNode) {
  ClusterState cluster;
  cluster.set_node(test_node(0));
  EXPECT_EQ(flags(cluster.nodes_meant({{}, {}, false})), "0");
  EXPECT_EQ(flags(cluster.nodes_meant({{}, {}, true})), "1");
}

TEST(NodeMatches, KnowsANodeByItsName) {
  ClusterState cluster;
  cluster.set_node(test_node(0));
  cluster.set_node(test_node(1));
  const NodeQuery named{{}, {{{}, {{"metadata.name", SelectorOperator::in, {"node-1"}}}}}, false};
  EXPECT_EQ(flags(cluster.nodes_meant(named)), "01");
  cluster.remove_node({0});
  Node renamed = test_node(0);
  renamed.name = "node-1";
  cluster.set_node(renamed);
  EXPECT_EQ(flags(cluster.nodes_meant(named)), "11");
}

}  // namespace
}  // namespace evenkeel
