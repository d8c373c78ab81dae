#include "reporting/dashboard_state.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace evenkeel::reporting {
namespace {

using Json = nlohmann::json;

PanelView panel_of(std::string policy, int nodes) {
  PanelView panel{.policy = std::move(policy)};
  for (int i = 0; i < nodes; ++i) {
    panel.nodes.push_back({"node-" + std::to_string(i), {0.001 * i, 0.1, 0.2, 0.3, 0.4, 0.0}, i});
  }
  return panel;
}

Json parsed(const DashboardState& state) { return Json::parse(to_json(state)); }

TEST(DashboardState, CarriesEverythingThePageShows) {
  PanelView panel = panel_of("horizon", 1);
  panel.pending = 2;
  panel.running = 3;
  panel.finished = 4;
  panel.unschedulable = 5;
  panel.moves = 6;
  panel.imbalance = 0.07314159;
  panel.utilization = 0.5;
  panel.history = {{0.0, 0.1, 0.2}, {10.0, 0.3, 0.4}};
  panel.last_decisions = {{12.5, "default/web-1", "node-0", "horizon", {"least imbalance"}, "node-1"}};
  const Json json = parsed({.now_s = 12.5,
                            .end_s = 100,
                            .scenario = "drs-even",
                            .seed = 18446744073709551615u,
                            .finished = true,
                            .panels = {panel}});
  EXPECT_EQ(json["now_s"], 12.5);
  EXPECT_EQ(json["end_s"], 100.0);
  EXPECT_EQ(json["scenario"], "drs-even");
  EXPECT_EQ(json["seed"], "18446744073709551615");
  EXPECT_EQ(json["finished"], true);
  EXPECT_EQ(json["dimensions"], Json::parse(R"(["CPU","Memory","Receive","Transmit","Read","Write"])"));
  const Json& shown = json["panels"][0];
  EXPECT_EQ(shown["policy"], "horizon");
  EXPECT_EQ(shown["reference"], false);
  EXPECT_EQ(shown["pending"], 2);
  EXPECT_EQ(shown["running"], 3);
  EXPECT_EQ(shown["finished"], 4);
  EXPECT_EQ(shown["unschedulable"], 5);
  EXPECT_EQ(shown["moves"], 6);
  EXPECT_EQ(shown["imbalance"], 0.0731);
  EXPECT_EQ(shown["history"],
            Json::parse(R"({"at_s":[0.0,10.0],"imbalance":[0.1,0.3],"utilization":[0.2,0.4]})"));
  EXPECT_EQ(shown["last_decisions"][0]["runner_up"], "node-1");
  EXPECT_EQ(shown["last_decisions"][0]["reasons"], Json::parse(R"(["least imbalance"])"));
  EXPECT_EQ(shown["nodes"][0]["utilization"].size(), 6u);
}

TEST(DashboardState, SendsFortyNodesInFull) {
  const Json panel = parsed({.panels = {panel_of("greedy", 40)}})["panels"][0];
  EXPECT_EQ(panel["nodes"].size(), 40u);
  EXPECT_EQ(panel["nodes"][0]["name"], "node-0");
  EXPECT_TRUE(panel["heat"].empty());
}

TEST(DashboardState, SendsTheWorstTwelveOfManyAndAHeatMapOfAll) {
  const Json panel = parsed({.panels = {panel_of("greedy", 900)}})["panels"][0];
  EXPECT_EQ(panel["node_count"], 900);
  ASSERT_EQ(panel["nodes"].size(), 12u);
  EXPECT_EQ(panel["nodes"][0]["name"], "node-899");
  ASSERT_EQ(panel["heat"].size(), 900u);
  EXPECT_EQ(panel["heat"][0], 40);
  EXPECT_EQ(panel["heat"][899], 90);
  EXPECT_NEAR(panel["mean_utilization"][1].get<double>(), 0.1, 1e-9);
}

TEST(DashboardState, StaysSmallForFiveThousandNodes) {
  EXPECT_LT(to_json({.panels = {panel_of("a", 5000), panel_of("b", 5000), panel_of("c", 5000)}}).size(),
            100'000u);
}

TEST(DashboardState, SendsTheNewestDecisionsOnly) {
  PanelView panel = panel_of("greedy", 1);
  for (int i = 0; i < 100; ++i) panel.last_decisions.push_back({.at_s = 100.0 - i});
  const Json decisions = parsed({.panels = {panel}})["panels"][0]["last_decisions"];
  ASSERT_EQ(decisions.size(), kLastDecisions);
  EXPECT_EQ(decisions[0]["at_s"], 100.0);
}

TEST(DashboardState, FitsOnOneLineAndSurvivesForeignBytes) {
  PanelView panel = panel_of("line\nbreak", 2);
  panel.nodes[0].name = "bad \xFF name";
  panel.nodes[0].utilization[0] = NAN;
  panel.imbalance = INFINITY;
  const std::string text = to_json({.panels = {panel}});
  EXPECT_EQ(text.find('\n'), std::string::npos) << "an event stream ends a message at a line break";
  const Json json = Json::parse(text);
  EXPECT_TRUE(json["panels"][0]["imbalance"].is_null());
  EXPECT_EQ(json["panels"][0]["nodes"][0]["name"], "bad \xEF\xBF\xBD name");
}

TEST(DashboardState, FormatsAndMarksTheTableOnce) {
  const TableView table{.columns = {{"imbalance", "Imbalance", Better::lower}},
                        .rows = {{"kube-default", PolicyKind::rule, {{{0.135, 0.011}}}},
                                 {"horizon", PolicyKind::rule, {{{0.073, std::nullopt}}}},
                                 {"clairvoyant", PolicyKind::reference, {}}}};
  const Json json = parsed({.table = table})["table"];
  EXPECT_EQ(json["columns"][0]["better"], "lower");
  EXPECT_EQ(json["rows"][0]["cells"][0]["text"], "0.135 ± 0.011");
  EXPECT_EQ(json["rows"][0]["cells"][0]["best"], false);
  EXPECT_EQ(json["rows"][1]["cells"][0]["best"], true);
  EXPECT_TRUE(json["rows"][1]["cells"][0]["sd"].is_null());
  EXPECT_EQ(json["rows"][2]["kind"], "reference");
  EXPECT_TRUE(json["rows"][2]["cells"][0].is_null());
}

TEST(DashboardState, ShowsHowAServiceIsScaledByEachPolicy) {
  ScalingLaneView lane{.policy = "evenkeel", .replicas = 4, .violation = 0.00217};
  lane.at_s = {0, 15};
  lane.replicas_past = {2, 4};
  lane.requests_past = {90.00004, 180};
  lane.last_decisions = {
      {.at_s = 15, .from = 2, .to = 4, .decided_by = "evenkeel", .reasons = {"forecast: more is coming"}}};
  const Json json = parsed({.scaling = {.service = "site", .lanes = {lane, {.policy = "hpa"}}}})["scaling"];
  EXPECT_EQ(json["service"], "site");
  ASSERT_EQ(json["lanes"].size(), 2u);
  EXPECT_NE(json["lanes"][0]["colour"], json["lanes"][1]["colour"]);
  EXPECT_EQ(json["lanes"][0]["violation"], 0.0022);
  EXPECT_EQ(json["lanes"][0]["history"],
            Json::parse(R"({"at_s":[0.0,15.0],"replicas":[2.0,4.0],"requests_per_s":[90.0,180.0]})"));
  EXPECT_EQ(json["lanes"][0]["last_decisions"][0]["reasons"][0], "forecast: more is coming");
  EXPECT_TRUE(parsed({})["scaling"]["lanes"].empty());
}

TEST(DashboardState, ShowsHowAPolicyLearnsAndOfOthersNothing) {
  PanelView learner = panel_of("drs", 1);
  learner.learning = {{10, 20}, {{"reward", {-3.5, 2.00004}}, {"loss", {std::nan(""), 1}}}};
  const Json json = parsed({.panels = {learner, panel_of("horizon", 1)}});
  EXPECT_EQ(json["panels"][0]["learning"], Json::parse(R"({"pods": [10.0, 20.0], "figures": [
      {"name": "reward", "values": [-3.5, 2.0]}, {"name": "loss", "values": [null, 1.0]}]})"));
  EXPECT_TRUE(json["panels"][1]["learning"]["figures"].empty());
}

}  // namespace
}  // namespace evenkeel::reporting
