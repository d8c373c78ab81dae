#include "kubernetes/cluster_follower.h"

#include <gtest/gtest.h>

#include "kubernetes/scripted_cluster.h"

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;

class ClusterFollowerTest : public ::testing::Test {
 protected:
  template <class Event>
  std::size_t count() {
    const std::vector<ClusterEvent> events = follower.take_events();
    return static_cast<std::size_t>(std::ranges::count_if(
        events, [](const ClusterEvent& event) { return std::holds_alternative<Event>(event); }));
  }
  ScriptedCluster cluster;
  ClusterFollower follower{cluster.connection, 1, [](const std::string&) {}};
};

TEST_F(ClusterFollowerTest, TellsNothingBeforeEveryKindAndThePodsWereListed) {
  cluster.add_node("n1");
  follower.start();
  cluster.connection.run(1s);
  EXPECT_FALSE(follower.synced());
  EXPECT_EQ(follower.missing(), "pods are being listed");
  EXPECT_TRUE(follower.take_events().empty());
  follower.pods_synced();
  EXPECT_TRUE(follower.synced());
  EXPECT_EQ(follower.missing(), "");
  EXPECT_EQ(count<NodeAdded>(), 1U);
  cluster.add_node("n2");
  cluster.connection.run(1s);
  EXPECT_EQ(count<NodeAdded>(), 1U);
}

TEST_F(ClusterFollowerTest, TellsOfPodsThatWaitForAnyScheduler) {
  cluster.add_node("n1");
  follower.start();
  follower.pods_synced();
  ScriptedCluster::json pod = ScriptedCluster::pod("web");
  pod["spec"]["schedulerName"] = "somebody-elses";
  pod["metadata"]["uid"] = "u";
  ObjectChange change;
  change.type = ObjectChange::Type::added;
  change.object.identity = {"shop", "web", "u", "1"};
  change.object.json = pod.dump();
  follower.pod_changed(change);
  cluster.connection.run(1s);
  EXPECT_EQ(count<PodAdded>(), 1U);
}

TEST_F(ClusterFollowerTest, SaysWhichRightIsMissing) {
  bool is_allowed = false;
  cluster.write = [&](const ApiRequest& request) -> std::optional<ApiAnswer> {
    if (is_allowed || !request.path.starts_with("/api/v1/nodes")) return std::nullopt;
    return ScriptedConnection::refusal(403, "Forbidden", "nodes is forbidden");
  };
  follower.start();
  follower.pods_synced();
  cluster.connection.run(10s);
  EXPECT_FALSE(follower.synced());
  EXPECT_EQ(follower.missing(), "nodes: HTTP 403: nodes is forbidden");
  is_allowed = true;
  cluster.connection.run(5min);
  EXPECT_TRUE(follower.synced());
}

}  // namespace
}  // namespace evenkeel::kubernetes
