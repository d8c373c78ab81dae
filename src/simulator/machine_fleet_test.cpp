#include "simulator/machine_fleet.h"

#include <gtest/gtest.h>

#include <numeric>

namespace evenkeel::simulator {
namespace {

Usage use(double cpu, double memory_mib, double rate) {
  return {{cpu, memory_mib * kBytesPerMib, rate, rate, rate, rate}};
}

// Two machines that are busy at different times.
Fleet two() {
  return make_fleet({{"1", 8, 4 * kBytesPerMib, {use(1, 1, 0), use(4, 1, 0), use(0, 1, 100)}},
                     {"2", 2, 12 * kBytesPerMib, {use(1, 3, 60), use(0, 3, 0), use(2, 5, 0)}}},
                    1);
}

TEST(MachineFleet, SizesNodesByTheJointPeakOfCpuAndMemoryAndTheSumOfOtherPeaks) {
  Fleet fleet = two();
  fleet.large_cpu_peak = 0;
  const Usage capacity = node_capacity(fleet, 2);
  EXPECT_DOUBLE_EQ(capacity[Dimension::cpu], 4 / 0.8 / 2);
  EXPECT_DOUBLE_EQ(capacity[Dimension::memory], 6 * kBytesPerMib / 0.8 / 2);
  EXPECT_DOUBLE_EQ(capacity[Dimension::read], (100 + 60) / 0.8 / 2);
  EXPECT_DOUBLE_EQ(capacity[Dimension::transmit], (100 + 60) / 0.8 / 2);
}

TEST(MachineFleet, MakesNoNodeTooSmallForALargeMachine) {
  std::vector<MachineTrace> machines;
  for (int i = 1; i <= 101; ++i) machines.push_back({std::to_string(i), 0, 0, {use(i, 1, 1)}});
  // The 95th percentile is machine 96.
  EXPECT_DOUBLE_EQ(node_capacity(make_fleet(machines, 0), 100)[Dimension::cpu], 96 / 0.7);
}

TEST(MachineFleet, SplitsHistoryFromWhatIsToCome) {
  const Fleet fleet = two();
  EXPECT_EQ(fleet.slots, 2U);
  EXPECT_EQ(fleet.members[0].history, std::vector<Usage>{use(1, 1, 0)});
  EXPECT_EQ(fleet.members[0].behaviour->series, (std::vector<Usage>{use(4, 1, 0), use(0, 1, 100)}));
  EXPECT_EQ(fleet.members[0].behaviour->kind, Behaviour::Kind::endless);
}

TEST(MachineFleet, GivesAllMachinesEqualRequestsOfFortyPercentInSum) {
  std::vector<MachineTrace> machines(10, MachineTrace{"", 1, 1, {use(1, 1, 1)}});
  for (const RequestShare& share : request_shares(make_fleet(machines, 0), 2, MachineRequests::equal)) {
    EXPECT_DOUBLE_EQ(share.cpu, 0.08);
    EXPECT_DOUBLE_EQ(share.memory, 0.08);
  }
}

TEST(MachineFleet, ScalesRequestsWithCapacityButNeverAboveHalfANode) {
  std::vector<MachineTrace> machines(9, MachineTrace{"", 1, 1, {use(1, 1, 1)}});
  machines.push_back({"", 1000, 2, {use(1, 1, 1)}});
  const auto shares = request_shares(make_fleet(machines, 0), 2, MachineRequests::scaled);
  EXPECT_DOUBLE_EQ(shares[9].cpu, 0.5);
  EXPECT_NEAR(shares[0].cpu, 1.1 / 9, 1e-6);
  EXPECT_NEAR(shares[9].memory, 2 * shares[0].memory, 1e-9);
  const double memory =
      std::accumulate(shares.begin(), shares.end(), 0.0,
                      [](double sum, const RequestShare& share) { return sum + share.memory; });
  EXPECT_NEAR(memory, 1.6, 1e-9);
}

}  // namespace
}  // namespace evenkeel::simulator
