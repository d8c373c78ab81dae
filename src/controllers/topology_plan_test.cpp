#include "controllers/topology_plan.h"

#include <gtest/gtest.h>

namespace evenkeel::controllers {
namespace {

const Places kNodes = {{"n1", {"west", "z1"}}, {"n2", {"west", "z2"}}, {"n3", {"east", "z3"}}};
const LinkId kLink{LinkId::Level::zone, "z1", "z2"};

NetworkTopology topology(std::int64_t capacity = 1'000) {
  NetworkTopology made;
  made.config_map = "netperf-metrics";
  made.weights = {
      {"UserDefined", {{std::string(kZoneLabel), {{"z1", {{"z2", 5, BitsPerSecond{capacity}, {}}}}}}}}};
  return made;
}

const NetworkCondition& condition(const TopologyPlan& plan, const std::string& type) {
  for (const NetworkCondition& one : plan.conditions)
    if (one.type == type) return one;
  static const NetworkCondition kNone;
  return kNone;
}

TEST(TopologyPlan, MakesWeightsOfMeasurementsAndTakesOverWhatLinksCarry) {
  const std::map<std::string, std::string> data = {
      {"netperf.p90.latency.milliseconds.origin.n1.destination.n2", "7"},
      {"netperf.p90.latency.milliseconds.origin.n1.destination.n3", "30"}};
  const TopologyPlan plan = plan_topology({topology(), kNodes, {}, &data, "", 90});
  ASSERT_TRUE(plan.measured.has_value());
  EXPECT_EQ(plan.measured->name, "NetperfCosts");
  ASSERT_EQ(plan.measured->levels.size(), 2U);
  EXPECT_EQ(plan.measured->levels[0].topology_key, kRegionLabel);
  EXPECT_EQ(plan.measured->levels[0].origins.at(1),
            (NetworkTopology::Origin{"west", {{"east", 30, {}, {}}}}));
  EXPECT_EQ(plan.measured->levels[1].origins.at(0),
            (NetworkTopology::Origin{"z1", {{"z2", 7, BitsPerSecond{1'000}, {}}}}));
  EXPECT_EQ(condition(plan, "CostsMeasured").reason, "Measured");
}

TEST(TopologyPlan, KeepsWhatThereIsWhereNothingIsMeasuredAndSaysWhy) {
  const TopologyPlan none = plan_topology({topology(), kNodes, {}, nullptr, "there is no ConfigMap x", 90});
  EXPECT_FALSE(none.measured.has_value());
  EXPECT_EQ(condition(none, "CostsMeasured").message, "there is no ConfigMap x");
  const std::map<std::string, std::string> other = {
      {"netperf.p50.latency.milliseconds.origin.n1.destination.n2", "7"}};
  const TopologyPlan wrong = plan_topology({topology(), kNodes, {}, &other, "", 90});
  EXPECT_FALSE(wrong.measured.has_value());
  EXPECT_EQ(condition(wrong, "CostsMeasured").reason, "NoMeasurements");
  EXPECT_NE(condition(wrong, "CostsMeasured").message.find("other percentiles"), std::string::npos);
}

TEST(TopologyPlan, NamesLinksThatNobodyKnows) {
  const std::map<std::string, std::string> data = {
      {"netperf.p90.latency.milliseconds.origin.n1.destination.n2", "7"}};
  const TopologyPlan plan = plan_topology({topology(), kNodes, {}, &data, "", 90});
  EXPECT_EQ(condition(plan, "CostsMeasured").reason, "Incomplete");
  EXPECT_NE(condition(plan, "CostsMeasured").message.find("region east -> west"), std::string::npos);
}

TEST(TopologyPlan, NamesConstrainedLinksContradictionsAndNodesWithoutLabels) {
  NetworkTopology odd = topology();
  odd.weights[0].levels[0].origins[0].costs.push_back({"z2", 9, {}, {}});
  Places nodes = kNodes;
  nodes["bare"] = {};
  const TopologyPlan plan = plan_topology({odd, nodes, {{kLink, {2'000}}}, nullptr, "", 90});
  EXPECT_TRUE(condition(plan, "BandwidthConstrained").is_true);
  EXPECT_NE(condition(plan, "BandwidthConstrained").message.find("zone z1 -> z2 (2000 of 1000"),
            std::string::npos);
  EXPECT_EQ(condition(plan, "Valid").reason, "Contradictory");
  EXPECT_NE(condition(plan, "Valid").message.find("bare"), std::string::npos);
  ASSERT_EQ(plan.constrained.size(), 1U);
}

}  // namespace
}  // namespace evenkeel::controllers
