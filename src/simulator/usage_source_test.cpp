#include "simulator/usage_source.h"

#include <cmath>
#include <map>

#include "simulator/test_worlds.h"

namespace evenkeel::simulator {
namespace {

using namespace std::chrono_literals;

// Machines whose CPU in MHz is 1000 x machine + slot, one row a slot.
std::string rows(int machines, int slots) {
  std::string text = "vm,slot,cpu_mhz,mem_mib,disk_r_kBps,disk_w_kBps,net_rx_kBps,net_tx_kBps\n";
  for (int m = 1; m <= machines; ++m)
    for (int t = 0; t < slots; ++t)
      text +=
          std::to_string(m) + "," + std::to_string(t) + "," + std::to_string(1000 * m + t) + ",100,1,1,1,1\n";
  return text;
}

std::string fields(const std::string& usage) {
  return "nodes: {count: 2}\nusage:\n  step: 5m\n  history: 10m\n  arrivals: 15m\n" + usage;
}

class UsageSourceTest : public testing::Test {
 protected:
  ScratchFile trace_{"trace.csv", rows(3, 12)};
  std::string of_trace_ = fields("  trace: " + trace_.path() + "\n");
};

TEST_F(UsageSourceTest, BeginsTheWorldWhereHistoryEnds) {
  const WorldPlan plan = world_of(of_trace_, 1);
  EXPECT_EQ(plan.trace_step, 5min);
  EXPECT_EQ(plan.end, Time{} + 50min);
  EXPECT_EQ(plan.measure_from, Time{} + 15min);
  ASSERT_EQ(plan.history.size(), 6U);
  EXPECT_EQ(plan.history[0].measured, Time{} - 10min);
  EXPECT_EQ(plan.history[5].measured, Time{} - 5min);
  EXPECT_EQ(plan.workloads[plan.history[5].workload.slot], "vm-3");
  EXPECT_DOUBLE_EQ(plan.history[5].usage[Dimension::cpu], 3.001);
  for (const PodPlan& pod : plan.pods) {
    ASSERT_EQ(pod.behaviour->series.size(), 10U);
    EXPECT_EQ(std::llround(pod.behaviour->series[0][Dimension::cpu] * 1000) % 1000, 2);
  }
}

TEST_F(UsageSourceTest, LetsTheScenarioSayWhatIsMeasured) {
  const WorldPlan plan = world_of(of_trace_ + "measure: {from: 20m, to: 40m}\nend: 45m\n", 1);
  EXPECT_EQ(plan.measure_from, Time{} + 20min);
  EXPECT_EQ(plan.measure_to, Time{} + 40min);
  EXPECT_EQ(plan.end, Time{} + 45min);
}

TEST_F(UsageSourceTest, MakesEveryMachineAWorkloadThatArrivesInTime) {
  const WorldPlan plan = world_of(of_trace_, 1);
  EXPECT_EQ(plan.workloads, (std::vector<std::string>{"vm-1", "vm-2", "vm-3"}));
  ASSERT_EQ(plan.pods.size(), 3U);
  for (std::size_t i = 0; i < plan.pods.size(); ++i) {
    EXPECT_EQ(plan.pods[i].name, plan.workloads[plan.pods[i].shape->workload.slot]);
    EXPECT_GE(plan.pods[i].arrival, Time{});
    EXPECT_LT(plan.pods[i].arrival, Time{} + 15min);
    EXPECT_LE(plan.pods[i == 0 ? 0 : i - 1].arrival, plan.pods[i].arrival);
  }
}

TEST_F(UsageSourceTest, SizesNodesAndRequestsAsTheFleetSays) {
  const WorldPlan plan = world_of(of_trace_, 1);
  ASSERT_EQ(plan.nodes.size(), 2U);
  EXPECT_EQ(plan.nodes[0].node.name, "node-1");
  const double cpu = (1011 + 2011 + 3011) / 1000.0 / 0.8 / 2;
  EXPECT_NEAR(plan.nodes[0].node.capacity[Dimension::cpu], std::max(cpu, 2.011 / 0.7), 1e-9);
  const PodTemplate& shape = *plan.pods[0].shape;
  const double share = 0.4 * 2 / 3;  // of a node each
  EXPECT_NEAR(static_cast<double>(shape.request.cpu.count),
              share * static_cast<double>(plan.nodes[0].node.allocatable.cpu.count), 1);
}

TEST_F(UsageSourceTest, LimitsAMachineToItsCapacity) {
  const ScratchFile machines("machines.csv",
                             "vm,cores,cpu_cap_mhz,mem_cap_mib\n1,1,2600,512\n2,1,0,0\n3,1,2400,64\n");
  const WorldPlan plan = world_of(of_trace_ + "  machines: " + machines.path() + "\n", 1);
  std::map<std::string, Resources> limits;
  for (const PodPlan& pod : plan.pods) limits[pod.name] = pod.shape->limit;
  EXPECT_EQ(limits["vm-1"].cpu.count, 2600);
  EXPECT_EQ(limits["vm-1"].memory.count, 512 << 20);
  EXPECT_EQ(limits["vm-2"].cpu.count, 0);  // unknown, so none
}

TEST_F(UsageSourceTest, TakesTheFirstMachinesWhereSoManyAreWanted) {
  for (const std::string number : {"  machines: 2\n", "  count: 2\n"})
    EXPECT_EQ(world_of(of_trace_ + number, 1).workloads, (std::vector<std::string>{"vm-1", "vm-2"}));
}

TEST_F(UsageSourceTest, ReadsColumnsOfOtherNames) {
  const ScratchFile other("other.csv",
                          "host,t,mhz,mem_mib,disk_r_kBps,disk_w_kBps,net_rx_kBps,net_tx_kBps\n"
                          "a,0,1,1,1,1,1,1\na,9,2000,1,1,1,1,1\n");
  const WorldPlan plan =
      world_of(fields("  trace: " + other.path() + "\n  columns: {vm: host, slot: t, cpu: mhz}\n"), 1);
  EXPECT_EQ(plan.workloads, std::vector<std::string>{"vm-a"});
  EXPECT_DOUBLE_EQ(plan.pods[0].behaviour->series.back()[Dimension::cpu], 2);
}

TEST_F(UsageSourceTest, MakesTheSameWorldOfTheSameSeedAndSharesTheTrace) {
  const auto scenario = scenario_of(of_trace_);
  ASSERT_TRUE(scenario);
  const WorldPlan one = expand(*scenario, 1), again = expand(*scenario, 1), other = expand(*scenario, 2);
  EXPECT_TRUE(same(one, again));
  EXPECT_FALSE(same(one, other));
  const auto of = [](const WorldPlan& plan) {
    for (const PodPlan& pod : plan.pods)
      if (pod.name == "vm-1") return pod.behaviour.get();
    return static_cast<const Behaviour*>(nullptr);
  };
  EXPECT_EQ(of(one), of(other));
}

TEST_F(UsageSourceTest, DrawsOtherMachinesForEverySeedWithoutATrace) {
  const std::string generated =
      "nodes: {count: 2}\nusage: {count: 5, length: 6h, history: 1h, arrivals: 1h}\n";
  EXPECT_TRUE(same(world_of(generated, 4), world_of(generated, 4)));
  EXPECT_FALSE(world_of(generated, 4).pods[0].behaviour->series ==
               world_of(generated, 5).pods[0].behaviour->series);
  EXPECT_EQ(world_of(generated, 4).end, Time{} + 5h);
}

TEST_F(UsageSourceTest, SaysWhereItsMachinesCameFrom) {
  EXPECT_EQ(world_of(of_trace_, 1).source, "3 machines of " + trace_.path());
  EXPECT_EQ(world_of("nodes: {count: 2}\nusage: {machines: 5}\n", 1).source,
            "5 machines made by the generator, others for each seed");
}

TEST_F(UsageSourceTest, NamesFileAndLineOfABadTraceBesideTheFieldThatNamesIt) {
  const ScratchFile bad("bad.csv", rows(1, 3) + "1,1,0,0,0,0,0,0\n");
  EXPECT_EQ(error_of(fields("  trace: " + bad.path() + "\n")),
            "test.yaml:9: usage.trace: " + bad.path() +
                ":5: slot: expected more than 2, the machine's slot before, found 1");
  EXPECT_NE(error_of(fields("  trace: no/such.csv\n")).find("no/such.csv"), std::string::npos);
}

TEST_F(UsageSourceTest, RefusesWindowsThatDoNotFit) {
  EXPECT_EQ(
      error_of("nodes: {count: 2}\nusage: {trace: " + trace_.path() + ", history: 30m, arrivals: 30m}\n"),
      "test.yaml:5: usage.arrivals: history and arrivals leave nothing to measure of the 1h there are");
  EXPECT_EQ(error_of("nodes: {count: 2}\nusage: {history: 7m}\n"),
            "test.yaml:5: usage.history: expected whole slots of 5m, found 7m");
  EXPECT_EQ(error_of("nodes: {count: 2}\nusage: {step: 10m}\n"),
            "test.yaml:5: usage.step: expected 5m, which is what the generator makes, found 10m");
}

TEST_F(UsageSourceTest, RefusesMoreMachinesThanTheTraceHas) {
  EXPECT_EQ(error_of(of_trace_ + "  machines: 4\n"),
            "test.yaml:10: usage.machines: expected at most 3, which is what the trace has");
  EXPECT_EQ(error_of("nodes: {count: 2}\nusage: {machines: list.csv}\n"),
            "test.yaml:5: usage.machines: expected a number, or a `trace` beside it");
}

}  // namespace
}  // namespace evenkeel::simulator
