#include "autoscaling/leavers.h"

#include <gtest/gtest.h>

namespace evenkeel::autoscaling {
namespace {

// Pods of 10 % of a node's CPU and memory each, on the nodes named.
std::vector<LeavingPod> pods_on(const std::vector<std::size_t>& nodes) {
  std::vector<LeavingPod> pods;
  for (const std::size_t node : nodes)
    pods.push_back({"pod-" + std::to_string(pods.size()), node, {0.1, 0.1}});
  return pods;
}

TEST(Leavers, GoFromTheBusiestNode) {
  std::vector<NodeLoad> nodes{{0.2, 0.2}, {0.9, 0.9}, {0.5, 0.5}};
  EXPECT_EQ(choose_leavers(nodes, pods_on({0, 1, 2}), 1), (std::vector<std::size_t>{1}));
}

TEST(Leavers, TakeTurnsOnceANodeIsNoBusierThanTheNext) {
  std::vector<NodeLoad> nodes{{0.6, 0.6}, {0.65, 0.65}};
  EXPECT_EQ(choose_leavers(nodes, pods_on({0, 0, 0, 1, 1, 1}), 3), (std::vector<std::size_t>{3, 0, 4}));
  EXPECT_NEAR(nodes[0].cpu, 0.5, 1e-9);
  EXPECT_NEAR(nodes[1].memory, 0.45, 1e-9);
}

TEST(Leavers, SpareAPodThatIsAloneOnItsNodeWhileAnotherHasCompany) {
  std::vector<NodeLoad> nodes{{0.3, 0.3}, {0.9, 0.9}};
  // The busy node holds one, the idle one two: apart they fail apart.
  EXPECT_EQ(choose_leavers(nodes, pods_on({0, 0, 1}), 1), (std::vector<std::size_t>{0}));
  // Once each is alone, the busier node is relieved.
  EXPECT_EQ(choose_leavers(nodes, pods_on({0, 1}), 1), (std::vector<std::size_t>{1}));
}

TEST(Leavers, CountMemoryAsMuchAsCpu) {
  std::vector<NodeLoad> nodes{{0.6, 0.1}, {0.55, 0.9}};
  EXPECT_EQ(choose_leavers(nodes, pods_on({0, 1}), 1), (std::vector<std::size_t>{1}));
}

TEST(Leavers, OfEqualsTheFirstGoes) {
  std::vector<NodeLoad> nodes{{0.5, 0.5}, {0.5, 0.5}};
  EXPECT_EQ(choose_leavers(nodes, pods_on({1, 0, 1, 0}), 2), (std::vector<std::size_t>{0, 1}));
}

TEST(Leavers, AreNeverMoreThanThereAre) {
  std::vector<NodeLoad> nodes{{0.5, 0.5}};
  EXPECT_EQ(choose_leavers(nodes, pods_on({0, 0}), 5).size(), 2U);
  EXPECT_TRUE(choose_leavers(nodes, {}, 5).empty());
  EXPECT_EQ(spread_of({}), 0);
}

}  // namespace
}  // namespace evenkeel::autoscaling
