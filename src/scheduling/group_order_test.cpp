#include "scheduling/group_order.h"

#include <gtest/gtest.h>

#include "scheduling/test_desk.h"
#include "scheduling/test_networks.h"

namespace evenkeel::scheduling {
namespace {

AppGroup ordered(const std::string& name, const std::vector<std::string>& workloads) {
  AppGroup group;
  group.name_space = "default";
  group.name = name;
  for (std::size_t i = 0; i < workloads.size(); ++i)
    group.order.push_back({workloads[i], static_cast<std::int32_t>(i + 1)});
  std::sort(group.order.begin(), group.order.end(),
            [](const AppGroup::Rank& a, const AppGroup::Rank& b) { return a.selector < b.selector; });
  return group;
}

SchedulingOptions by_topology(std::vector<std::string> namespaces = {}) {
  SchedulingOptions options;
  options.profile.topological_sort = std::move(namespaces);
  return options;
}

class GroupOrderTest : public testing::Test {
 protected:
  GroupOrderTest() : desk(1, by_topology()) {}
  void add(const std::string& group, const std::string& workload, std::int32_t priority = 0,
           const std::string& name_space = "default") {
    const PodId id = desk.add(member_shape(group, workload, spec_of(1, priority), name_space));
    names[id.slot] = group.empty() ? workload : group + "." + workload;
  }
  // In which order pods are asked about.
  std::string order() {
    std::string all;
    for (std::string one = desk.step(); !one.empty(); one = desk.step())
      all += (all.empty() ? "" : " ") + names.at(static_cast<std::uint32_t>(std::stoul(one.substr(5))));
    return all;
  }
  TestDesk desk;
  std::map<std::uint32_t, std::string> names;
};

// Upstream's own cases: p1 before p2, p5 not before p1, and strangers by priority and arrival.
TEST_F(GroupOrderTest, AsksAboutPodsOfAGroupInItsOrder) {
  desk.tell(ObjectSet{ordered("basic", {"p1", "p2", "p3"})});
  desk.tell(
      ObjectSet{ordered("boutique", {"p1", "p10", "p9", "p8", "p7", "p6", "p5", "p4", "p3", "p2", "p11"})});
  add("basic", "p2");
  add("boutique", "p5");
  add("basic", "p1");
  add("boutique", "p1");
  EXPECT_EQ(order(), "basic.p1 basic.p2 boutique.p1 boutique.p5");
}

TEST_F(GroupOrderTest, KeepsAGroupTogetherWhereItsFirstPodStood) {
  desk.tell(ObjectSet{ordered("basic", {"p1", "p2", "p3"})});
  add("", "first");
  add("basic", "p3");
  add("", "second");
  add("basic", "p1");
  add("", "third");
  EXPECT_EQ(order(), "first basic.p1 basic.p3 second third");
  add("", "fourth");  // the group stands no longer there: it begins anew
  add("basic", "p2");
  EXPECT_EQ(order(), "fourth basic.p2");
}

TEST_F(GroupOrderTest, PutsPriorityFirstWithinAGroupAsBetweenThem) {
  desk.tell(ObjectSet{ordered("basic", {"p1", "p2"})});
  add("basic", "p1");
  add("", "urgent", 5);
  add("basic", "p2", 9);
  EXPECT_EQ(order(), "basic.p2 urgent basic.p1");
}

TEST_F(GroupOrderTest, PutsWorkloadsThatAreNotInTheOrderFirstByArrival) {
  desk.tell(ObjectSet{ordered("basic", {"p1"})});
  add("basic", "p1");
  add("basic", "x");
  add("basic", "w");
  EXPECT_EQ(order(), "basic.x basic.w basic.p1");
}

TEST_F(GroupOrderTest, TakesUpAnOrderThatBecomesKnownWhilePodsWait) {
  add("basic", "p3");
  add("basic", "p2");
  add("basic", "p1");
  desk.tell(ObjectSet{ordered("basic", {"p1", "p2", "p3"})});
  EXPECT_EQ(order(), "basic.p1 basic.p2 basic.p3");
}

TEST_F(GroupOrderTest, DoesNotMixGroupsOfOneNameInTwoNamespaces) {
  desk.tell(ObjectSet{ordered("basic", {"p1", "p2"})});
  add("basic", "p2");
  add("basic", "p1", 0, "elsewhere");
  add("basic", "p1");
  EXPECT_EQ(order(), "basic.p1 basic.p2 basic.p1");
}

TEST(GroupOrder, LooksWhereUpstreamsArgumentsSayWhateverNamespaceThePodIsIn) {
  TestDesk desk(1, by_topology({"nowhere", "default"}));
  desk.tell(ObjectSet{ordered("basic", {"p1", "p2"})});
  const auto of = [](const std::string& workload) {
    return member_shape("basic", workload, spec_of(1), "elsewhere");
  };
  desk.add(of("p2"));
  desk.add(of("p1"));
  EXPECT_EQ(desk.steps(), "bind 1 to 0; bind 0 to 0");
}

TEST(GroupOrder, IsWhoComesFirstWhereNobodyAskedForMore) {
  TestDesk desk(1);
  desk.tell(ObjectSet{ordered("basic", {"p1", "p2"})});
  desk.add(member_shape("basic", "p2", spec_of(1)));
  desk.add(member_shape("basic", "p1", spec_of(1)));
  EXPECT_EQ(desk.steps(), "bind 0 to 0; bind 1 to 0");
}

}  // namespace
}  // namespace evenkeel::scheduling
