#include "kubernetes/network_document.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
const Time kNow{std::chrono::seconds(1'763'280'000)};

json topology(const char* spelling) {
  const bool is_old = std::string(spelling) == "old";
  const json costs = json::array(
      {{{"destination", "z2"}, {"networkCost", 5}, {"bandwidthCapacity", "1Gi"}, {"isAllowed", true}},
       {{"destination", "z3"}, {"networkCost", 7}}});
  const json origins = json::array({{{"origin", "z1"}, {is_old ? "costs" : "costList", costs}}});
  const json levels = json::array(
      {{{"topologyKey", "topology.kubernetes.io/zone"}, {is_old ? "originCosts" : "originList", origins}}});
  return {{"apiVersion", "networktopology.diktyo.x-k8s.io/v1alpha1"},
          {"kind", "NetworkTopology"},
          {"metadata", {{"namespace", "default"}, {"name", "nt"}, {"resourceVersion", "7"}}},
          {"spec",
           {{is_old ? "configMapName" : "configmapName", "netperf-metrics"},
            {"weights",
             json::array({{{"name", "UserDefined"}, {is_old ? "costList" : "topologyList", levels}}})}}}};
}

json applied(const json& before, const std::optional<std::string>& patch) {
  json after = before;
  if (patch) after.merge_patch(json::parse(*patch));
  return after;
}

TopologyContent content(const LinkLoads& loads, const NetworkTopology::Weights* measured = nullptr) {
  return {measured, &loads, 3, {{"Valid", true, "Valid", ""}}, false};
}

TEST(NetworkDocument, ReadsBothSpellingsAsTheSameTopology) {
  const auto today = read_topology_document(topology("new").dump());
  const auto old = read_topology_document(topology("old").dump());
  ASSERT_TRUE(today && old);
  EXPECT_EQ(today->topology, old->topology);
  EXPECT_EQ(today->topology.weights[0].levels[0].origins[0].costs[0].capacity, BitsPerSecond{1 << 30});
  EXPECT_TRUE(today->renamed.empty());
  EXPECT_EQ(old->renamed,
            (std::vector<std::string>{"configMapName is configmapName", "costList is topologyList",
                                      "originCosts is originList", "costs is costList"}));
}

TEST(NetworkDocument, RewritesOldSpellingsAndTakesThemForTheNewerOnesWhereBothAreThere) {
  const json before = topology("old");
  const auto patch = topology_patch(before.dump(), content({}), kNow);
  ASSERT_TRUE(patch && *patch);
  json after = applied(before, *patch);
  EXPECT_FALSE(after["spec"].contains("configMapName"));
  EXPECT_EQ(after["spec"]["configmapName"], "netperf-metrics");
  EXPECT_EQ(after["spec"]["weights"][0]["topologyList"][0]["originList"][0]["costList"][1]["networkCost"], 7);
  EXPECT_EQ(json::parse(**patch)["metadata"]["resourceVersion"], "7");
  after["spec"]["configMapName"] = "another";  // the old manifest, changed and applied again
  const auto again = read_topology_document(after.dump());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->topology.config_map, "another");
}

TEST(NetworkDocument, WritesWhatIsAllocatedAndNothingElseIntoOthersWeights) {
  const json before = topology("new");
  const LinkLoads loads{{{LinkId::Level::zone, "z1", "z2"}, {250'000'000}}};
  const auto patch = topology_patch(before.dump(), content(loads), kNow);
  ASSERT_TRUE(patch && *patch);
  json after = applied(before, *patch);
  json& costs = after["spec"]["weights"][0]["topologyList"][0]["originList"][0]["costList"];
  EXPECT_EQ(costs[0]["bandwidthAllocated"], "250M");
  EXPECT_EQ(costs[0]["isAllowed"], true);
  EXPECT_FALSE(costs[1].contains("bandwidthAllocated"));
  EXPECT_EQ(after["status"]["nodeCount"], 3);
  EXPECT_FALSE(after["status"].contains("weightCalculationTime"));
  costs[0].erase("bandwidthAllocated");
  EXPECT_EQ(after["spec"], before["spec"]);
}

TEST(NetworkDocument, SaysNothingWhereTheObjectSaysItAlready) {
  const json before = topology("old");
  const LinkLoads loads{{{LinkId::Level::zone, "z1", "z2"}, {1 << 20}}};
  NetworkTopology::Weights measured{
      "NetperfCosts", {{std::string(kZoneLabel), {{"z1", {{"z2", 9, BitsPerSecond{1 << 30}, {}}}}}}}};
  json after = applied(before, *topology_patch(before.dump(), content(loads, &measured), kNow));
  EXPECT_EQ(after["spec"]["weights"][1]["name"], "NetperfCosts");
  after["spec"]["weights"][0]["topologyList"][0]["originList"][0]["costList"][0]["bandwidthAllocated"] =
      "1Mi";
  EXPECT_EQ(*topology_patch(after.dump(), content(loads, &measured), kNow + 9s), std::nullopt);
  TopologyContent periodic = content(loads, &measured);
  periodic.is_recalculated = true;
  const auto time_only = topology_patch(after.dump(), periodic, kNow + 9s);
  ASSERT_TRUE(*time_only);
  const json patch = json::parse(**time_only);
  EXPECT_FALSE(patch.contains("spec"));
  EXPECT_EQ(patch["status"].size(), 1U);
  measured.levels[0].origins[0].costs[0].cost = 11;
  EXPECT_TRUE(*topology_patch(after.dump(), content(loads, &measured), kNow + 9s));
}

TEST(NetworkDocument, PatchesAGroupsStatusWithTheTimesOfWhatChanged) {
  json before = {
      {"metadata", {{"name", "a1"}, {"namespace", "default"}, {"resourceVersion", "3"}}},
      {"spec", {{"numMembers", 1}, {"topologySortingAlgorithm", "KahnSort"}, {"workloads", json::array()}}}};
  AppGroupStatus status;
  status.running = 2;
  status.first_pod = kNow - 60s;
  status.order = {{{"Deployment", "web", "web", "apps/v1", ""}, 1}};
  status.conditions = {{"Valid", true, "Valid", ""}};
  json after = applied(before, *group_patch(before.dump(), status, kNow));
  EXPECT_EQ(after["status"]["runningWorkloads"], 2);
  EXPECT_EQ(after["status"]["scheduleStartTime"], "2025-11-16T07:59:00Z");
  EXPECT_EQ(after["status"]["topologyOrder"][0]["index"], 1);
  EXPECT_EQ(*group_patch(after.dump(), status, kNow + 60s), std::nullopt);
  after["status"]["topologyOrder"][0]["workloadStatistics"] = {{"minCost", 1}};
  EXPECT_EQ(*group_patch(after.dump(), status, kNow + 60s), std::nullopt);  // somebody else's
  status.running = 3;
  json patch = json::parse(**group_patch(after.dump(), status, kNow + 60s));
  EXPECT_EQ(patch["status"], (json{{"runningWorkloads", 3}}));
  status.conditions[0] = {"Valid", false, "Contradictory", "twice"};
  after = applied(after, *group_patch(after.dump(), status, kNow + 60s));
  EXPECT_EQ(after["status"]["conditions"][0]["lastTransitionTime"], "2025-11-16T08:01:00Z");
}

TEST(NetworkDocument, SaysOfWhatCannotBeReadWhy) {
  const json odd = {{"metadata", {{"name", "a1"}, {"resourceVersion", "3"}}},
                    {"spec", {{"numMembers", "many"}}}};
  const auto read = read_group_document(odd.dump());
  ASSERT_FALSE(read);
  const auto patch = trouble_patch(odd.dump(), read.error().message, kNow);
  ASSERT_TRUE(patch && *patch);
  EXPECT_EQ(json::parse(**patch)["status"]["conditions"][0]["reason"], "Unreadable");
  EXPECT_EQ(*trouble_patch(applied(odd, *patch).dump(), read.error().message, kNow + 9s), std::nullopt);
  EXPECT_FALSE(topology_patch("[1]", {}, kNow));
  for (const char* text :
       {"{}", R"({"spec":3})", R"({"spec":{"weights":[3,{"topologyList":[3,{"originList":[{}]}]}]}})"}) {
    (void)read_topology_document(text);
    (void)topology_patch(text, content({}), kNow);
  }
}

}  // namespace
}  // namespace evenkeel::kubernetes
