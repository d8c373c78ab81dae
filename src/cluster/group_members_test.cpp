#include "cluster/group_members.h"

#include <gtest/gtest.h>

#include "cluster/cluster_state.h"
#include "cluster/test_objects.h"

namespace evenkeel {
namespace {

Pod member(std::uint32_t slot, std::string name_space, std::string group) {
  return test_pod({slot, 1},
                  std::make_shared<const PodTemplate>(
                      std::move(name_space), Labels{{std::string(kAppGroupLabel), std::move(group)}},
                      std::vector<OwnerReference>{}, WorkloadId{}, spec_asking(100, 0)));
}

std::size_t members(const ClusterState& cluster, std::string_view name_space, std::string_view group) {
  return cluster.groups().of(name_space, group).size();
}

TEST(GroupMembers, AreThePodsThatSaySoWaitingOrPlaced) {
  ClusterState cluster;
  cluster.set_node(test_node(0));
  cluster.add_pending(member(0, "shop", "boutique"));
  cluster.found(member(1, "shop", "boutique"), {0}, {}, {});
  cluster.add_pending(test_pod({2, 1}, shape_asking(100, 0)));
  EXPECT_EQ(members(cluster, "shop", "boutique"), 2U);
  EXPECT_EQ(members(cluster, "shop", "other"), 0U);
}

TEST(GroupMembers, OfTheSameNameInAnotherNamespaceAreAnotherGroups) {
  ClusterState cluster;
  cluster.add_pending(member(0, "shop", "boutique"));
  cluster.add_pending(member(1, "test", "boutique"));
  EXPECT_EQ(members(cluster, "shop", "boutique"), 1U);
  EXPECT_EQ(cluster.groups().everywhere("boutique").size(), 2U);
}

TEST(GroupMembers, LeaveWithTheirPodOrItsLabel) {
  ClusterState cluster;
  cluster.add_pending(member(0, "shop", "boutique"));
  cluster.add_pending(member(1, "shop", "boutique"));
  cluster.remove_pod({0, 1});
  EXPECT_EQ(members(cluster, "shop", "boutique"), 1U);
  cluster.update_pod(member(1, "shop", "bookinfo"));
  EXPECT_EQ(members(cluster, "shop", "boutique"), 0U);
  EXPECT_EQ(members(cluster, "shop", "bookinfo"), 1U);
  EXPECT_TRUE(cluster.groups().everywhere("boutique").empty());
}

}  // namespace
}  // namespace evenkeel
