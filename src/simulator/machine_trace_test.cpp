#include "simulator/machine_trace.h"

#include <cmath>

#include "simulator/test_worlds.h"

namespace evenkeel::simulator {
namespace {

constexpr const char* kHeader = "vm,slot,cpu_mhz,mem_mib,disk_r_kBps,disk_w_kBps,net_rx_kBps,net_tx_kBps\n";
constexpr const char* kMachines =
    "vm,cores,cpu_cap_mhz,mem_cap_mib\n2,1,2600,4096\n10,2,5200,8192\n11,1,2400,1024\n";

// What the trace's rows end with, with a file of machines beside it. Paths are left out.
std::string trace_error(const std::string& rows, const std::string& machines = kMachines) {
  const ScratchFile trace("trace.csv", kHeader + rows), list("machines.csv", machines);
  const auto read = read_machine_trace(trace.path(), list.path(), {});
  if (read) return "no error";
  std::string message = read.error().message;
  for (const std::string& path : {trace.path(), list.path()})
    if (message.starts_with(path))
      message = (path == trace.path() ? "trace" : "machines") + message.substr(path.size());
  return message;
}

std::vector<MachineTrace> machines_of(const std::string& rows) {
  const ScratchFile trace("trace.csv", kHeader + rows);
  auto read = read_machine_trace(trace.path(), std::nullopt, {});
  EXPECT_TRUE(read) << read.error().message;
  return read ? *std::move(read) : std::vector<MachineTrace>{};
}

TEST(MachineTrace, CountsInCoresOfOneGhzBytesAndBytesPerSecond) {
  const auto machines = machines_of("7,0,1500,2,1,2,3,4\n");
  ASSERT_EQ(machines.size(), 1U);
  EXPECT_EQ(machines[0].use[0], (Usage{{1.5, 2 * 1024.0 * 1024, 3000, 4000, 1000, 2000}}));
}

TEST(MachineTrace, CarriesMissingSamplesForwardAndTheFirstBack) {
  const auto machines =
      machines_of("1,2,300,0,0,0,0,0\n1,4,500,0,0,0,0,0\n1,5,,0,0,0,0,0\n2,6,1,0,0,0,0,0\n");
  ASSERT_EQ(machines[0].use.size(), 7U);
  std::vector<double> cpu;
  for (const Usage& use : machines[0].use) cpu.push_back(std::round(use[Dimension::cpu] * 1000));
  EXPECT_EQ(cpu, (std::vector<double>{300, 300, 300, 300, 500, 500, 500}));
}

TEST(MachineTrace, TakesItsOwnPeaksWhereCapacitiesAreUnknown) {
  const auto machines = machines_of("1,0,300,10,0,0,0,0\n1,1,900,5,0,0,0,0\n");
  EXPECT_DOUBLE_EQ(machines[0].cpu, 0.9);
  EXPECT_DOUBLE_EQ(machines[0].memory, 10 * kBytesPerMib);
}

TEST(MachineTrace, OrdersMachinesByNumberAndLeavesOutThoseWithoutSamples) {
  const ScratchFile trace("trace.csv", std::string(kHeader) + "10,0,1,1,0,0,0,0\n2,0,1,1,0,0,0,0\n");
  const ScratchFile list("machines.csv", kMachines);
  const auto machines = read_machine_trace(trace.path(), list.path(), {});
  ASSERT_TRUE(machines) << machines.error().message;
  ASSERT_EQ(machines->size(), 2U);
  EXPECT_EQ((*machines)[0].id, "2");
  EXPECT_EQ((*machines)[1].id, "10");
  EXPECT_DOUBLE_EQ((*machines)[1].cpu, 5.2);
}

TEST(MachineTrace, ReadsMachinesThatTakeTurns) {
  const auto machines = machines_of("1,0,1,0,0,0,0,0\n2,0,2,0,0,0,0,0\n1,1,3,0,0,0,0,0\n2,1,4,0,0,0,0,0\n");
  EXPECT_DOUBLE_EQ(machines[0].use[1][Dimension::cpu], 0.003);
  EXPECT_DOUBLE_EQ(machines[1].use[1][Dimension::cpu], 0.004);
}

TEST(MachineTrace, RefusesASlotThatComesTwice) {
  EXPECT_EQ(trace_error("2,0,1,1,0,0,0,0\n2,0,1,1,0,0,0,0\n"),
            "trace:3: slot: expected more than 0, the machine's slot before, found 0");
}

TEST(MachineTrace, RefusesSlotsOutOfOrder) {
  EXPECT_EQ(trace_error("2,5,1,1,0,0,0,0\n2,4,1,1,0,0,0,0\n"),
            "trace:3: slot: expected more than 5, the machine's slot before, found 4");
}

TEST(MachineTrace, RefusesNegativeUse) {
  EXPECT_EQ(trace_error("2,0,1,1,0,0,0,0\n2,1,1,1,0,-3,0,0\n"),
            "trace:3: disk_w_kBps: expected 0 or more, found -3");
}

TEST(MachineTrace, RefusesWhatIsNoNumber) {
  EXPECT_EQ(trace_error("2,0,fast,1,0,0,0,0\n"), "trace:2: cpu_mhz: expected a number, found 'fast'");
}

TEST(MachineTrace, RefusesSlotsThatCannotBe) {
  EXPECT_EQ(trace_error("2,-1,1,1,0,0,0,0\n"), "trace:2: slot: expected 0 to 999999, found -1");
  EXPECT_EQ(trace_error("2,1000000,1,1,0,0,0,0\n"), "trace:2: slot: expected 0 to 999999, found 1000000");
}

TEST(MachineTrace, RefusesAnUnknownMachine) {
  EXPECT_EQ(trace_error("3,0,1,1,0,0,0,0\n"), "trace:2: vm: machine 3 is not in the file of machines");
}

TEST(MachineTrace, RefusesAMachineListedTwice) {
  EXPECT_EQ(trace_error("2,0,1,1,0,0,0,0\n", "vm,cpu_cap_mhz,mem_cap_mib\n2,1,1\n2,1,1\n"),
            "machines:3: vm: machine 2 comes twice");
}

TEST(MachineTrace, RefusesAShortRow) {
  EXPECT_EQ(trace_error("2,0,1,1\n"), "trace:2: expected 8 cells as in the header, found 4");
}

TEST(MachineTrace, RefusesAnEmptyTrace) { EXPECT_EQ(trace_error(""), "trace: expected at least one sample"); }

TEST(MachineTrace, RefusesAFileWithoutItsColumns) {
  const ScratchFile trace("trace.csv", "vm,slot,cpu\n1,0,3\n");
  const auto read = read_machine_trace(trace.path(), std::nullopt, {});
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("cpu_mhz"), std::string::npos) << read.error().message;
}

}  // namespace
}  // namespace evenkeel::simulator
