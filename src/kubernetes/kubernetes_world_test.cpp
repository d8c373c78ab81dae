#include "kubernetes/kubernetes_world.h"

#include <gtest/gtest.h>

#include "kubernetes/scripted_cluster.h"

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

class KubernetesWorldTest : public ::testing::Test {
 protected:
  static KubernetesWorld::Options options() {
    KubernetesWorld::Options made;
    made.feed.scheduler_names = {"evenkeel"};
    return made;
  }
  // Everything that happens within a time.
  std::vector<ClusterEvent> wait(KubernetesWorld& world, Duration time = 1s) {
    std::vector<ClusterEvent> all;
    const Time end = world.now() + time;
    while (world.now() < end) {
      const auto events = world.wait_for_events(end);
      if (!events) break;
      all.insert(all.end(), events->begin(), events->end());
    }
    return all;
  }
  template <class Event>
  static std::size_t count(const std::vector<ClusterEvent>& events) {
    return static_cast<std::size_t>(
        std::ranges::count_if(events, [](const auto& e) { return std::holds_alternative<Event>(e); }));
  }
  PodId id(const KubernetesWorld& world, const std::string& name) {
    return world.feed().pod_named("shop", name).value();
  }
  std::vector<json> events_written() {
    std::vector<json> all;
    for (const ApiRequest& request : cluster.sent("POST", "/events"))
      all.push_back(json::parse(request.body));
    return all;
  }

  ScriptedCluster cluster;
  std::vector<std::string> logged;
  KubernetesWorld::Log log = [this](const std::string& line) { logged.push_back(line); };
};

TEST_F(KubernetesWorldTest, TellsNothingBeforeEveryKindIsListed) {
  cluster.add_node("n1");
  cluster.add_pod("web");
  bool slow = true;
  cluster.write = [&](const ApiRequest& request) -> std::optional<ApiAnswer> {
    if (slow && request.path.find("/csinodes") != std::string::npos) return ScriptedConnection::refusal(500);
    return std::nullopt;
  };
  KubernetesWorld world(cluster.connection, options(), log);
  world.start();
  EXPECT_TRUE(wait(world, 5s).empty());
  EXPECT_FALSE(world.synced());
  slow = false;
  const auto events = wait(world, 60s);
  EXPECT_EQ(count<NodeAdded>(events), 1u);
  EXPECT_EQ(count<PodAdded>(events), 1u);
}

TEST_F(KubernetesWorldTest, BindsAndSaysSo) {
  cluster.add_node("n1");
  cluster.add_pod("web");
  KubernetesWorld world(cluster.connection, options(), log);
  world.start();
  wait(world);
  world.annotate(id(world, "web"), {"evenkeel.io/decision", "n1 90"});
  world.execute(BindPod{id(world, "web"), {0}});
  EXPECT_EQ(count<PodBound>(wait(world)), 1u);
  const auto bindings = cluster.sent("POST", "/binding");
  ASSERT_EQ(bindings.size(), 1u);
  EXPECT_EQ(json::parse(bindings[0].body)["metadata"]["annotations"]["evenkeel.io/decision"], "n1 90");
  const auto events = events_written();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]["reason"], "Scheduled");
  EXPECT_EQ(events[0]["action"], "Binding");
  EXPECT_EQ(events[0]["type"], "Normal");
  EXPECT_EQ(events[0]["note"], "Successfully assigned shop/web to n1");
  EXPECT_EQ(events[0]["reportingController"], "evenkeel");
  EXPECT_EQ(world.outstanding(), 0u);
}

TEST_F(KubernetesWorldTest, SaysWhyAPodWaitsOnceHoweverOftenItIsSaid) {
  cluster.add_pod("web");
  KubernetesWorld world(cluster.connection, options(), log);
  world.start();
  wait(world);
  for (int i = 0; i < 3; ++i) {
    world.execute(MarkUnschedulable{id(world, "web"), "0/0 nodes are available."});
    wait(world, 70s);
  }
  const auto patches = cluster.sent("PATCH", "/pods/web/status");
  ASSERT_EQ(patches.size(), 1u);
  const auto condition = json::parse(patches[0].body)["status"]["conditions"][0];
  EXPECT_EQ(condition["type"], "PodScheduled");
  EXPECT_EQ(condition["status"], "False");
  EXPECT_EQ(condition["reason"], "Unschedulable");
  EXPECT_EQ(events_written().size(), 1u);
  const auto repeats = cluster.sent("PATCH", "/events/");
  ASSERT_EQ(repeats.size(), 2u);
  EXPECT_EQ(json::parse(repeats[1].body)["series"]["count"], 3);
}

TEST_F(KubernetesWorldTest, TellsTheOwnerOfAPodThatCannotBeReadOnceItLeads) {
  cluster.add_pod("web", "99999999999999999999999999");
  auto others = ScriptedCluster::pod("theirs", "99999999999999999999999999");
  others["spec"]["schedulerName"] = "default-scheduler";
  cluster.put(types::pods(), others);
  bool leads = false;
  KubernetesWorld world(cluster.connection, options(), log);
  world.write_while([&] { return leads; });
  world.start();
  wait(world);
  EXPECT_TRUE(cluster.writes.empty());
  leads = true;
  wait(world);
  const auto events = events_written();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]["reason"], "FailedScheduling");
  EXPECT_EQ(events[0]["regarding"]["name"], "web");
  EXPECT_EQ(events[0]["reportingController"], "evenkeel");
  EXPECT_NE(events[0]["note"].get<std::string>().find("cpu"), std::string::npos) << events[0]["note"];
  wait(world, 60s);
  EXPECT_EQ(events_written().size(), 1u);
}

TEST_F(KubernetesWorldTest, PromisesTheNodeBeforeAnyVictimGoes) {
  cluster.add_node("n1");
  json low = ScriptedCluster::pod("low"), displaced = ScriptedCluster::pod("displaced");
  low["spec"]["nodeName"] = "n1";
  displaced["status"]["nominatedNodeName"] = "n1";
  cluster.put(types::pods(), low);
  cluster.put(types::pods(), displaced);
  cluster.add_pod("high", "4", 10);
  KubernetesWorld world(cluster.connection, options(), log);
  world.start();
  wait(world);
  world.execute(PreemptPods{id(world, "high"), {0}, {id(world, "low")}, "0/1 nodes are available."});
  wait(world);
  std::vector<std::string> order;
  for (const ApiRequest& request : cluster.writes) order.push_back(request.method + " " + request.path);
  const std::string pods = "/api/v1/namespaces/shop/pods/";
  EXPECT_EQ(order,
            (std::vector<std::string>{"POST /apis/events.k8s.io/v1/namespaces/shop/events",
                                      "PATCH " + pods + "displaced/status", "PATCH " + pods + "high/status",
                                      "PATCH " + pods + "low/status", "DELETE " + pods + "low",
                                      "POST /apis/events.k8s.io/v1/namespaces/shop/events"}));
  EXPECT_EQ(json::parse(cluster.writes[2].body)["status"]["nominatedNodeName"], "n1");
  EXPECT_EQ(json::parse(cluster.writes[3].body)["status"]["conditions"][0]["message"],
            "evenkeel: preempting to accommodate a higher priority pod");
  EXPECT_EQ(json::parse(cluster.writes[4].body)["preconditions"]["uid"], "uid-shop/low");
  EXPECT_EQ(json::parse(cluster.writes[5].body)["note"], "Preempted by pod uid-shop/high on node n1");
}

TEST_F(KubernetesWorldTest, AVictimIsAskedToGoOnceHoweverOftenItIsPicked) {
  cluster.add_node("n1");
  json low = ScriptedCluster::pod("low");
  low["spec"]["nodeName"] = "n1";
  cluster.put(types::pods(), low);
  cluster.add_pod("high", "4", 10);
  KubernetesWorld world(cluster.connection, options(), log);
  world.start();
  wait(world);
  for (int i = 0; i < 2; ++i) {
    world.execute(PreemptPods{id(world, "high"), {0}, {id(world, "low")}, "why"});
    wait(world);
  }
  EXPECT_EQ(cluster.sent("DELETE", "/").size(), 1u);
}

TEST_F(KubernetesWorldTest, AnUnwrittenPromiseCostsNobodyTheirPlaceAndIsThoughtAboutAgain) {
  cluster.add_node("n1");
  json low = ScriptedCluster::pod("low");
  low["spec"]["nodeName"] = "n1";
  cluster.put(types::pods(), low);
  cluster.add_pod("high", "4", 10);
  KubernetesWorld world(cluster.connection, options(), log);
  world.start();
  wait(world);
  cluster.write = [&](const ApiRequest& request) -> std::optional<ApiAnswer> {
    if (request.method == "PATCH") return ScriptedConnection::refusal(500);
    return std::nullopt;
  };
  world.execute(PreemptPods{id(world, "high"), {0}, {id(world, "low")}, "why"});
  const auto events = wait(world, 10s);
  EXPECT_TRUE(cluster.sent("DELETE", "/").empty());
  EXPECT_EQ(count<PodGone>(events), 1u);
  EXPECT_EQ(count<PodAdded>(events), 1u);
  // Once it can be written, they go.
  cluster.write = nullptr;
  world.execute(PreemptPods{id(world, "high"), {0}, {id(world, "low")}, "why"});
  wait(world, 1s);
  EXPECT_EQ(cluster.sent("DELETE", "/").size(), 1u);
}

TEST_F(KubernetesWorldTest, WhoseVictimsAreStillLeavingKeepsItsPromise) {
  cluster.add_node("n1");
  json promised = ScriptedCluster::pod("web");
  promised["status"]["nominatedNodeName"] = "n1";
  cluster.put(types::pods(), promised);
  KubernetesWorld world(cluster.connection, options(), log);
  world.start();
  wait(world);
  const auto last_patch = [&] { return cluster.sent("PATCH", "/pods/web/status").back().body; };
  world.execute(MarkUnschedulable{id(world, "web"), "victims are leaving"});
  wait(world, 1s);
  EXPECT_EQ(last_patch().find("nominatedNodeName"), std::string::npos) << last_patch();
  world.execute(MarkUnschedulable{id(world, "web"), "nobody can be asked to leave", true});
  wait(world, 1s);
  EXPECT_NE(last_patch().find("nominatedNodeName"), std::string::npos) << last_patch();
}

TEST_F(KubernetesWorldTest, InShadowNothingIsWrittenAndAssumptionsEnd) {
  cluster.add_node("n1");
  cluster.add_pod("web");
  auto shadow = options();
  shadow.writes = false;
  KubernetesWorld world(cluster.connection, shadow, log);
  world.start();
  wait(world);
  world.execute(BindPod{id(world, "web"), {0}});
  world.execute(MarkUnschedulable{id(world, "web"), "why"});
  EXPECT_EQ(count<BindFailed>(wait(world, 60s)), 1u);
  EXPECT_TRUE(cluster.writes.empty());
}

TEST_F(KubernetesWorldTest, WhoMayNoLongerWriteForgetsInstead) {
  cluster.add_node("n1");
  cluster.add_pod("web");
  KubernetesWorld world(cluster.connection, options(), log);
  world.start();
  wait(world);
  world.write_while([] { return false; });
  world.execute(BindPod{id(world, "web"), {0}});
  EXPECT_EQ(count<BindFailed>(wait(world)), 1u);
  EXPECT_TRUE(cluster.writes.empty());
}

TEST_F(KubernetesWorldTest, EventsCanBeSwitchedOff) {
  cluster.add_node("n1");
  cluster.add_pod("web");
  auto quiet = options();
  quiet.events.on = false;
  KubernetesWorld world(cluster.connection, quiet, log);
  world.start();
  wait(world);
  world.execute(BindPod{id(world, "web"), {0}});
  wait(world);
  EXPECT_EQ(cluster.writes.size(), 1u);
}

class VolumesTest : public KubernetesWorldTest {
 protected:
  static json claim(const std::string& volume, const std::string& node) {
    json made = {{"metadata", {{"namespace", "shop"}, {"name", "data"}, {"annotations", json::object()}}},
                 {"spec", {{"accessModes", {"ReadWriteOnce"}}}}};
    if (!volume.empty()) {
      made["spec"]["volumeName"] = volume;
      made["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"] = "yes";
    }
    if (!node.empty()) made["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] = node;
    return made;
  }
  static json volume(const std::string& claim_uid) {
    json made = {{"metadata", {{"name", "v1"}}}, {"spec", {{"capacity", {{"storage", "1Gi"}}}}}};
    if (!claim_uid.empty())
      made["spec"]["claimRef"] = {{"namespace", "shop"}, {"name", "data"}, {"uid", claim_uid}};
    return made;
  }
  void begin(const std::string& volume_name, const std::string& asked_before = "") {
    cluster.add_node("n1");
    cluster.put(types::persistent_volume_claims(), claim("", asked_before));
    cluster.put(types::persistent_volumes(), volume(""));
    cluster.add_pod("web");
    auto with_time = options();
    with_time.volumes_within = 60s;
    world = std::make_unique<KubernetesWorld>(cluster.connection, with_time, log);
    world->start();
    wait(*world);
    world->execute(BindPod{id(*world, "web"), {0}, {{"shop", "data", volume_name}}});
    wait(*world);
  }
  std::unique_ptr<KubernetesWorld> world;
};

TEST_F(VolumesTest, AVolumeIsPromisedToItsClaimAndThePodGoesWhenTheyAreBound) {
  begin("v1");
  const auto patches = cluster.sent("PATCH", "/persistentvolumes/v1");
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_EQ(json::parse(patches[0].body)["spec"]["claimRef"]["uid"], "uid-shop/data");
  EXPECT_TRUE(cluster.sent("POST", "/binding").empty());
  cluster.put(types::persistent_volumes(), volume("uid-shop/data"));
  cluster.put(types::persistent_volume_claims(), claim("v1", ""));
  EXPECT_EQ(count<PodBound>(wait(*world, 5s)), 1u);
}

TEST_F(VolumesTest, AVolumeThatIsToBeMadeIsAskedForOnTheNode) {
  begin("");
  const auto patches = cluster.sent("PATCH", "/persistentvolumeclaims/data");
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_EQ(json::parse(patches[0].body)["metadata"]["annotations"]["volume.kubernetes.io/selected-node"],
            "n1");
  cluster.put(types::persistent_volume_claims(), claim("v1", "n1"));
  EXPECT_EQ(count<PodBound>(wait(*world, 5s)), 1u);
}

TEST_F(VolumesTest, AProvisionerThatGivesUpOnTheNodeFailsTheBinding) {
  begin("");
  cluster.put(types::persistent_volume_claims(), claim("", "n1"));
  wait(*world, 2s);
  cluster.put(types::persistent_volume_claims(), claim("", ""));
  EXPECT_EQ(count<BindFailed>(wait(*world, 5s)), 1u);
}

TEST_F(VolumesTest, AProvisionerThatGivesUpOnWhatAnEarlierLeaderAskedForFailsItToo) {
  begin("", "n1");
  EXPECT_TRUE(cluster.sent("PATCH", "/persistentvolumeclaims/data").empty());
  cluster.put(types::persistent_volume_claims(), claim("", ""));
  EXPECT_EQ(count<BindFailed>(wait(*world, 5s)), 1u);
}

TEST_F(VolumesTest, ANodeThatLeftMeanwhileFailsItThoughItsNameIsBack) {
  begin("");
  cluster.remove(types::nodes(), "", "n1");
  wait(*world, 100ms);
  cluster.add_node("n1");
  cluster.put(types::persistent_volume_claims(), claim("v1", "n1"));
  EXPECT_EQ(count<BindFailed>(wait(*world, 5s)), 1u);
  EXPECT_TRUE(cluster.sent("POST", "/binding").empty());
}

TEST_F(VolumesTest, ClaimsThatAreNeverBoundFailItInTimeAndWhatWasAskedForIsTakenBack) {
  begin("v1");
  EXPECT_EQ(count<BindFailed>(wait(*world, 90s)), 1u);
  const auto patches = cluster.sent("PATCH", "/persistentvolumes/v1");
  ASSERT_EQ(patches.size(), 2u);
  EXPECT_TRUE(json::parse(patches[1].body)["spec"]["claimRef"].is_null());
  EXPECT_TRUE(cluster.sent("POST", "/binding").empty());
}

}  // namespace
}  // namespace evenkeel::kubernetes
