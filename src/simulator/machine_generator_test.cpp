#include "simulator/machine_generator.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace evenkeel::simulator {
namespace {

constexpr std::size_t kWeek = 7 * kGeneratedSlotsPerDay;

const std::vector<MachineTrace>& machines() {
  static const std::vector<MachineTrace> made = generate_machines(428, kWeek, Random(1));
  return made;
}

bool equal(const std::vector<MachineTrace>& a, const std::vector<MachineTrace>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const MachineTrace& x, const MachineTrace& y) {
    return x.id == y.id && x.cpu == y.cpu && x.memory == y.memory && x.use == y.use;
  });
}

double mean_cpu(const MachineTrace& machine, std::size_t from, std::size_t to) {
  double sum = 0;
  for (std::size_t t = from; t < to; ++t) sum += machine.use[t][Dimension::cpu];
  return sum / static_cast<double>(to - from);
}

double share_of_zeros(Dimension dimension) {
  double zeros = 0;
  for (const MachineTrace& machine : machines())
    for (const Usage& use : machine.use) zeros += use[dimension] == 0 ? 1 : 0;
  return zeros / static_cast<double>(machines().size() * kWeek);
}

TEST(MachineGenerator, MakesTheSameMachinesOfTheSameSeed) {
  EXPECT_TRUE(equal(generate_machines(30, 600, Random(7)), generate_machines(30, 600, Random(7))));
  EXPECT_FALSE(equal(generate_machines(30, 600, Random(7)), generate_machines(30, 600, Random(8))));
}

TEST(MachineGenerator, MakesAnyNumberOfAnyLength) {
  for (const std::size_t count : {1U, 2U, 17U})
    for (const std::size_t slots : {1U, 100U, 900U}) {
      const auto made = generate_machines(count, slots, Random(3));
      ASSERT_EQ(made.size(), count);
      for (const MachineTrace& machine : made) EXPECT_EQ(machine.use.size(), slots);
    }
}

TEST(MachineGenerator, UsesNeitherLessThanNothingNorMoreThanThereIs) {
  for (const MachineTrace& machine : machines())
    for (const Usage& use : machine.use) {
      for (const double amount : use.of) ASSERT_GE(amount, 0);
      ASSERT_LE(use[Dimension::cpu], 1.15 * machine.cpu);  // compute servers run a little above their clock
      ASSERT_LE(use[Dimension::memory], machine.memory);
    }
}

TEST(MachineGenerator, LeavesMostMachinesIdleMostOfTheTime) {
  std::vector<double> ratios;
  for (const MachineTrace& machine : machines()) ratios.push_back(mean_cpu(machine, 0, kWeek) / machine.cpu);
  std::sort(ratios.begin(), ratios.end());
  EXPECT_LT(ratios[ratios.size() / 2], 0.05);
  EXPECT_GT(ratios[ratios.size() * 95 / 100], 0.2);
}

TEST(MachineGenerator, HasComputeServersThatTheFirstDayDoesNotTellOf) {
  std::size_t at_limit = 0, quiet_first_day = 0;
  double first_day = 0, rest = 0;
  for (const MachineTrace& machine : machines()) {
    const auto limit = [&](const Usage& use) { return use[Dimension::cpu] > machine.cpu; };
    if (machine.cpu != 20.8 || std::none_of(machine.use.begin(), machine.use.end(), limit)) continue;
    ++at_limit;
    const double first = mean_cpu(machine, 0, kGeneratedSlotsPerDay);
    if (first < 0.25) ++quiet_first_day;
    first_day += first;
    rest += mean_cpu(machine, kGeneratedSlotsPerDay, kWeek);
  }
  EXPECT_NEAR(static_cast<double>(at_limit), 0.093 * 428, 4);
  EXPECT_GE(quiet_first_day, at_limit / 4);
  EXPECT_GT(rest, 2 * first_day);
}

TEST(MachineGenerator, LetsDisksRestMostlyAndWriteMoreOftenThanRead) {
  EXPECT_GT(share_of_zeros(Dimension::read), 0.5);
  EXPECT_LT(share_of_zeros(Dimension::write), 0.35);
  EXPECT_GT(share_of_zeros(Dimension::receive), 0.1);
}

TEST(MachineGenerator, BurstsInDiskAndNetworkFarAboveTheMean) {
  for (const Dimension d : {Dimension::read, Dimension::write, Dimension::receive, Dimension::transmit}) {
    double peaks = 0, means = 0;
    for (const MachineTrace& machine : machines()) {
      double peak = 0, sum = 0;
      for (const Usage& use : machine.use) {
        peak = std::max(peak, use[d]);
        sum += use[d];
      }
      peaks += peak;
      means += sum / kWeek;
    }
    EXPECT_GT(peaks, 8 * means) << kDimensionNames[static_cast<std::size_t>(d)];
  }
}

}  // namespace
}  // namespace evenkeel::simulator
