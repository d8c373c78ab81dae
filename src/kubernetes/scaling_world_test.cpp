#include "kubernetes/scaling_world.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kubernetes/scripted_cluster.h"

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;
using json = nlohmann::json;

// Says what the test says, at once.
class Meter final : public ServiceMeter {
 public:
  void measure(std::vector<ScalingLook>& looks, std::function<void()> done) override {
    ++rounds;
    for (ScalingLook& look : looks) look.report.requests_per_s = {42, Time{}};
    done();
  }
  int rounds = 0;
};

class ScalingWorldTest : public ::testing::Test {
 protected:
  ScalingWorldTest() {
    cluster.write = [this](const ApiRequest& request) -> std::optional<ApiAnswer> {
      if (!request.path.ends_with("/scale")) return std::nullopt;
      if (request.method == "PUT") wanted = json::parse(request.body)["spec"]["replicas"];
      return ScriptedConnection::ok(json{{"kind", "Scale"},
                                         {"metadata", {{"resourceVersion", "1"}}},
                                         {"spec", {{"replicas", wanted}}},
                                         {"status", {{"replicas", wanted}, {"selector", "app=web"}}}}
                                        .dump());
    };
  }
  void add_scaler(const std::string& name, const std::string& mode, int created = 0) {
    cluster.put(types::workload_scalers(),
                {{"metadata",
                  {{"namespace", "shop"},
                   {"name", name},
                   {"creationTimestamp", "2026-01-01T00:00:0" + std::to_string(created) + "Z"}}},
                 {"spec",
                  {{"scaleTargetRef", {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"name", "web"}}},
                   {"maxReplicas", 5},
                   {"mode", mode}}}});
  }
  void add_hpa() {
    cluster.put(types::horizontal_pod_autoscalers(),
                {{"metadata", {{"namespace", "shop"}, {"name", "theirs"}}},
                 {"spec",
                  {{"scaleTargetRef", {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"name", "web"}}},
                   {"maxReplicas", 7}}}});
  }
  void add_replica(const std::string& name, const std::string& cost = "") {
    json pod = ScriptedCluster::pod(name);
    pod["metadata"]["labels"] = {{"app", "web"}};
    if (!cost.empty()) pod["metadata"]["annotations"] = {{kDeletionCost, cost}};
    cluster.put(types::pods(), pod);
  }
  // What its annotation was set to; "none": it was taken away; empty: nothing was written.
  std::string cost_written(const std::string& pod) const {
    const auto sent = cluster.sent("PATCH", "/pods/" + pod);
    if (sent.empty()) return "";
    const json cost = json::parse(sent.back().body)["metadata"]["annotations"][kDeletionCost];
    return cost.is_null() ? "none" : cost.get<std::string>();
  }
  KubernetesScalingWorld& world() {
    if (!made) {
      made = std::make_unique<KubernetesScalingWorld>(cluster.connection, meter, options,
                                                      [](const std::string&) {});
      made->start();
    }
    return *made;
  }
  // Everything that is told within so long.
  std::vector<ScalingEvent> events(Duration time) {
    std::vector<ScalingEvent> all;
    const Time end = cluster.connection.now() + time;
    while (cluster.connection.now() < end) {
      const auto told = world().wait_for_events(end);
      if (!told) break;
      all.insert(all.end(), told->begin(), told->end());
    }
    return all;
  }
  template <class Event>
  static std::vector<Event> only(const std::vector<ScalingEvent>& events) {
    std::vector<Event> found;
    for (const ScalingEvent& event : events)
      if (const auto* one = std::get_if<Event>(&event)) found.push_back(*one);
    return found;
  }

  ScriptedCluster cluster;
  Meter meter;
  KubernetesScalingWorld::Options options;
  int wanted = 2;
  std::unique_ptr<KubernetesScalingWorld> made;
};

TEST_F(ScalingWorldTest, ReportsAWorkloadWithItsPodsOnceAnInterval) {
  add_scaler("web", "Auto");
  json pod = ScriptedCluster::pod("web-1", "250m");
  pod["metadata"]["labels"] = {{"app", "web"}};
  pod["status"] = {{"phase", "Running"}, {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}};
  cluster.put(types::pods(), pod);
  cluster.add_pod("another");
  const auto told = events(44s);
  const auto set = only<ScalerSet>(told);
  ASSERT_EQ(set.size(), 1U);
  EXPECT_EQ(set[0].spec.max_replicas, 5);
  const auto reports = only<ServiceReported>(told);
  EXPECT_GE(reports.size(), 3U);
  EXPECT_LE(reports.size(), 4U);
  EXPECT_EQ(static_cast<int>(reports.size()), meter.rounds);
  const ServiceReport& report = reports[0].report;
  EXPECT_EQ(report.wanted, 2);
  EXPECT_DOUBLE_EQ(report.requests_per_s->value, 42);
  ASSERT_EQ(report.replicas.size(), 1U);
  EXPECT_EQ(report.replicas[0].name, "web-1");
  EXPECT_TRUE(report.replicas[0].ready);
  EXPECT_DOUBLE_EQ(report.replicas[0].requests.at(0), 0.25);
}

TEST_F(ScalingWorldTest, ScalesWithinBoundsAndRefusesTheRest) {
  add_scaler("web", "Auto");
  const ScalerId id = only<ScalerSet>(events(1s)).at(0).scaler;
  world().execute(ScaleWorkload{id, 2, 4});
  EXPECT_EQ(only<Scaled>(events(1s)).at(0).replicas, 4);
  EXPECT_EQ(wanted, 4);
  for (const ScaleWorkload& wrong :
       {ScaleWorkload{id, 4, 6}, ScaleWorkload{id, 2, 3}, ScaleWorkload{id, 4, 0}}) {
    world().execute(wrong);
    EXPECT_EQ(only<ScaleFailed>(events(1s)).size(), 1U);
  }
  EXPECT_EQ(wanted, 4);
  EXPECT_EQ(cluster.sent("PUT", "/scale").size(), 1U);
}

TEST_F(ScalingWorldTest, MarksThePodsThatLeaveInTheirOrderAndUnmarksThoseThatStayed) {
  wanted = 4;
  add_scaler("web", "Auto");
  for (const char* name : {"web-a", "web-b", "web-c", "web-d"}) add_replica(name);
  add_replica("web-d", leaving_cost(0));  // was to leave once, and did not
  const ScalerId id = only<ScalerSet>(events(1s)).at(0).scaler;
  world().execute(ScaleWorkload{id, 4, 2, {"web-c", "web-a"}});
  EXPECT_EQ(only<Scaled>(events(1s)).size(), 1U);
  EXPECT_EQ(cost_written("web-c"), leaving_cost(0));
  EXPECT_EQ(cost_written("web-a"), leaving_cost(1));
  EXPECT_EQ(cost_written("web-d"), "none");
  EXPECT_EQ(cost_written("web-b"), "");
  EXPECT_EQ(cluster.writes.at(3).method, "PUT") << "first they are marked, then it is scaled";
}

TEST_F(ScalingWorldTest, LeavesTheOrderOfLeavingToAnOwnerWhoHasOne) {
  wanted = 2;
  add_scaler("web", "Auto");
  add_replica("web-a");
  add_replica("web-b", "100");
  const ScalerId id = only<ScalerSet>(events(1s)).at(0).scaler;
  world().execute(ScaleWorkload{id, 2, 1, {"web-b"}});
  EXPECT_EQ(only<Scaled>(events(1s)).size(), 1U);
  EXPECT_TRUE(cluster.sent("PATCH", "/pods/").empty());
}

TEST_F(ScalingWorldTest, KeepsItsHandsOffWhileAnHpaOrAnElderScalesIt) {
  add_hpa();
  add_scaler("web", "Auto", 1);
  const auto told = events(1s);
  const ScalerId id = only<ScalerSet>(told).at(0).scaler;
  EXPECT_EQ(only<RivalSeen>(told).at(0).who, "HorizontalPodAutoscaler theirs");
  world().execute(ScaleWorkload{id, 2, 4});
  EXPECT_EQ(only<ScaleFailed>(events(1s)).size(), 1U);
  cluster.remove(types::horizontal_pod_autoscalers(), "shop", "theirs");
  EXPECT_EQ(only<RivalSeen>(events(1s)).at(0).who, "");
  add_scaler("younger", "Auto", 2);
  const auto seen = only<RivalSeen>(events(1s));
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].who, "WorkloadScaler web");
  EXPECT_NE(seen[0].scaler, id);
}

TEST_F(ScalingWorldTest, WritesNothingAndFollowsHpasWhereItOnlyLooks) {
  options.writes = false;
  options.follows_hpas = true;
  options.policy = "evenkeel";
  add_hpa();
  const auto told = events(1s);
  const auto set = only<ScalerSet>(told);
  ASSERT_EQ(set.size(), 1U);
  EXPECT_EQ(set[0].spec.policy, "evenkeel");
  EXPECT_EQ(world().scaled_by(set[0].scaler), "HorizontalPodAutoscaler theirs");
  EXPECT_TRUE(only<RivalSeen>(told).empty());
  world().execute(TellDecision{set[0].scaler, {.from = 2, .to = 3, .decided_by = "evenkeel"}, false});
  world().execute(ScaleWorkload{set[0].scaler, 2, 3});
  EXPECT_EQ(only<ScaleFailed>(events(1s)).size(), 1U);
  EXPECT_TRUE(cluster.writes.empty());
}

TEST_F(ScalingWorldTest, SaysWhyAWorkloadCannotBeSeen) {
  cluster.write = [](const ApiRequest& request) -> std::optional<ApiAnswer> {
    if (request.path.ends_with("/scale"))
      return ScriptedConnection::refusal(404, "NotFound", "no such thing");
    return std::nullopt;
  };
  add_scaler("web", "Auto");
  const auto unseen = only<ServiceUnseen>(events(1s));
  ASSERT_EQ(unseen.size(), 1U);
  EXPECT_NE(unseen[0].why.find("no such thing"), std::string::npos);
  const auto statuses = cluster.sent("PATCH", "/workloadscalers/web/status");
  ASSERT_EQ(statuses.size(), 1U);
  EXPECT_NE(statuses[0].body.find("FailedGetScale"), std::string::npos);
}

TEST_F(ScalingWorldTest, LooksAtNothingWhileAnotherLeads) {
  bool leads = false;
  add_scaler("web", "Auto");
  world().act_while([&] { return leads; });
  EXPECT_TRUE(only<ServiceReported>(events(40s)).empty());
  leads = true;
  EXPECT_FALSE(only<ServiceReported>(events(20s)).empty());
}

}  // namespace
}  // namespace evenkeel::kubernetes
