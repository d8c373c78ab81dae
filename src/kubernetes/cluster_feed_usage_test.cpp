#include <gtest/gtest.h>

#include <cmath>

#include "kubernetes/cluster_feed.h"
#include "kubernetes/kubernetes_world.h"
#include "kubernetes/scripted_cluster.h"

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;
using json = nlohmann::json;

// A world with two nodes and a pod on the first, and what it says of reports.
class UsageTest : public ::testing::Test {
 protected:
  UsageTest() {
    json n1 = {
        {"metadata", {{"name", "n1"}}},
        {"status",
         {{"allocatable", {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}}},
          {"addresses",
           {{{"type", "InternalIP"}, {"address", "10.0.0.1"}}, {{"type", "Hostname"}, {"address", "n1"}}}}}}};
    cluster.put(types::nodes(), n1);
    cluster.add_node("n2");
    json web = ScriptedCluster::pod("web");
    web["spec"]["nodeName"] = "n1";
    web["status"] = {{"phase", "Running"}, {"startTime", "2025-11-16T07:00:00Z"}};
    cluster.put(types::pods(), web);
    KubernetesWorld::Options options;
    options.feed.scheduler_names = {"evenkeel"};
    world = std::make_unique<KubernetesWorld>(cluster.connection, options, [](const std::string&) {});
    world->start();
    found = wait();
  }
  std::vector<ClusterEvent> wait() {
    const auto events = world->wait_for_events(world->now() + 1s);
    return {events->begin(), events->end()};
  }
  NodeReport report(const std::string& node = "n1") const {
    NodeReport made;
    made.node = node;
    made.measured = world->now();
    made.total = Usage{{2, 4e9, 1e6, 2e6, 3e6, 4e6}};
    made.pods = {{"uid-shop/web", "", "", Usage{{1, 1e9, 5e5, 0, 0, 0}}}};
    return made;
  }
  // The one report among the events; the rest is dropped.
  std::optional<UsageReported> told(const NodeReport& report) {
    world->report(report, world->now());
    lent = world->wait_for_events(world->now() + 1s);
    for (const ClusterEvent& event : *lent)
      if (const auto* e = std::get_if<UsageReported>(&event)) return *e;
    return std::nullopt;
  }
  const ClusterFeed::ReportCounts& counts() const { return world->feed().report_counts(); }

  ScriptedCluster cluster;
  std::unique_ptr<KubernetesWorld> world;
  std::vector<ClusterEvent> found;
  std::optional<std::span<const ClusterEvent>> lent;
};

TEST_F(UsageTest, NamesAndUidsBecomeHandlesAndTheSpanHoldsUntilTheNextWait) {
  const auto said = told(report());
  ASSERT_TRUE(said);
  EXPECT_EQ(said->node, *world->feed().node_named("n1"));
  EXPECT_EQ(said->total, report().total);
  ASSERT_EQ(said->pods.size(), 1U);
  EXPECT_EQ(said->pods[0].pod, *world->feed().pod_named("shop", "web"));
  EXPECT_EQ(said->pods[0].usage[Dimension::cpu], 1);
}

TEST_F(UsageTest, ManyReportsOfOneTurnKeepTheirPods) {
  for (int i = 0; i < 100; ++i) {
    NodeReport one = report();
    one.pods[0].usage[Dimension::cpu] = i;
    world->report(one, world->now());
  }
  int i = 0;
  lent = world->wait_for_events(world->now());
  for (const ClusterEvent& event : *lent)
    if (const auto* said = std::get_if<UsageReported>(&event)) {
      ASSERT_EQ(said->pods.size(), 1U);
      EXPECT_EQ(said->pods[0].usage[Dimension::cpu], i++);
    }
  EXPECT_EQ(i, 100);
}

TEST_F(UsageTest, ANodeIsAlsoKnownByItsAddressAndAPodByItsName) {
  NodeReport one = report("10.0.0.1");
  one.pods = {{"", "shop", "web", Usage{{1, 1e9, 0, 0, 0, 0}}}};
  const auto said = told(one);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->node, *world->feed().node_named("n1"));
  EXPECT_EQ(said->pods.size(), 1U);
}

TEST_F(UsageTest, StrangersArePassedOverAndCounted) {
  EXPECT_FALSE(told(report("n9")));
  EXPECT_EQ(counts().unknown_nodes, 1U);
  NodeReport one = report();
  one.pods.push_back({"uid-of-nobody", "", "", {}});
  EXPECT_EQ(told(one)->pods.size(), 1U);
  NodeReport elsewhere = report("n2");  // the pod runs on n1
  EXPECT_TRUE(told(elsewhere)->pods.empty());
  EXPECT_EQ(counts().unknown_pods, 2U);
}

TEST_F(UsageTest, AmountsThatCannotBeAreNotKnownAndTheRestIs) {
  NodeReport one = report();
  one.total = Usage{{std::nan(""), 1e9, -1, HUGE_VAL, 5, 5}};
  auto said = told(one);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->known, (KnownDimensions{false, true, false, false, true, true}));
  EXPECT_EQ(counts().impossible, 3U);
  one.total = Usage{{17, 1e9, 0, 0, 0, 0}};  // of four cores
  EXPECT_FALSE(told(one)->known[0]);
  one = report();
  one.pods[0].usage[Dimension::read] = -5;
  EXPECT_TRUE(told(one)->pods.empty());
  one.known = {};
  EXPECT_FALSE(told(one));  // nothing is left of it
}

TEST_F(UsageTest, ASampleOfTheFutureIsOfNow) {
  NodeReport one = report();
  one.measured += 1h;
  EXPECT_EQ(told(one)->measured, world->now());
}

TEST_F(UsageTest, RatesThatANodeCanDoAreTakenDownAndSurviveItsUpdates) {
  NodeReport one = report();
  one.capacity = Usage{{64, 1e12, 1.25e9, 1.25e9, 5e8, 3e8}};
  world->report(one, world->now());
  std::optional<Node> updated;
  for (const ClusterEvent& event : wait())
    if (const auto* e = std::get_if<NodeUpdated>(&event)) updated = e->node;
  ASSERT_TRUE(updated);
  EXPECT_EQ(updated->capacity[Dimension::cpu], 4);  // what the Node says
  EXPECT_EQ(updated->capacity[Dimension::receive], 1.25e9);
  EXPECT_EQ(updated->capacity[Dimension::write], 3e8);
  world->report(one, world->now());  // nothing new
  for (const ClusterEvent& event : wait()) EXPECT_FALSE(std::get_if<NodeUpdated>(&event));
  cluster.put(types::nodes(),
              {{"metadata", {{"name", "n1"}, {"labels", {{"a", "b"}}}}},
               {"status", {{"allocatable", {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}}}}}});
  updated.reset();
  for (const ClusterEvent& event : wait())
    if (const auto* e = std::get_if<NodeUpdated>(&event)) updated = e->node;
  ASSERT_TRUE(updated);
  EXPECT_EQ(updated->capacity[Dimension::receive], 1.25e9);
}

TEST_F(UsageTest, TrafficOfAPodOnTheHostsNetworkIsTheNodesOwn) {
  json host = ScriptedCluster::pod("agent");
  host["spec"]["nodeName"] = "n1";
  host["spec"]["hostNetwork"] = true;
  cluster.put(types::pods(), host);
  wait();
  NodeReport one = report();
  one.pods = {{"", "shop", "agent", Usage{{0.5, 1e8, 7e5, 7e5, 10, 0}}}};
  const auto said = told(one);
  ASSERT_EQ(said->pods.size(), 1U);
  EXPECT_EQ(said->pods[0].usage, (Usage{{0.5, 1e8, 0, 0, 10, 0}}));
}

TEST_F(UsageTest, AReportThatComesBeforeTheClusterIsListedIsDropped) {
  KubernetesWorld::Options options;
  KubernetesWorld early(cluster.connection, options, [](const std::string&) {});
  early.report(report(), early.now());
  EXPECT_EQ(early.feed().report_counts().unknown_nodes, 0U);
}

TEST_F(UsageTest, APodThatRanBeforeItWasFoundIsAsOldAsItsStatusSays) {
  std::optional<Time> since;
  for (const ClusterEvent& event : found)
    if (const auto* e = std::get_if<PodStarted>(&event)) since = e->at;
  ASSERT_TRUE(since);
  EXPECT_EQ(since->time_since_epoch(), 1'763'276'400s);
}

}  // namespace
}  // namespace evenkeel::kubernetes
