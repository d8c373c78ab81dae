#include "simulator/machine_fleet.h"

#include <algorithm>

namespace evenkeel::simulator {
namespace {

constexpr double kFilled = 0.8, kLargestOfANode = 0.7, kLargestRequest = 0.5;
constexpr double kEquallyFilled = 0.4;  // requests that say nothing of size should not bind either

// The amount that counts as a whole node, so that shares of it, cut at the largest, sum up as wanted.
double unit_of(const std::vector<double>& amounts, double wanted) {
  double unit = 0;
  for (const double amount : amounts) unit += amount / wanted;
  for (int i = 0; i < 60; ++i) {
    double sum = 0;
    for (const double amount : amounts) sum += std::min(amount, kLargestRequest * unit);
    unit = sum / wanted;
  }
  return unit;
}

}  // namespace

Fleet make_fleet(std::vector<MachineTrace> machines, std::size_t history_slots) {
  Fleet fleet;
  std::vector<Usage> sum;
  std::vector<double> cpu_peaks;
  for (MachineTrace& machine : machines) {
    sum.resize(std::max(sum.size(), machine.use.size()));
    Usage peak;
    for (std::size_t t = 0; t < machine.use.size(); ++t) {
      sum[t] += machine.use[t];
      for (std::size_t d = 0; d < kDimensions; ++d) peak.of[d] = std::max(peak.of[d], machine.use[t].of[d]);
    }
    fleet.apart += peak;
    cpu_peaks.push_back(peak[Dimension::cpu]);

    const auto begin =
        machine.use.begin() + static_cast<std::ptrdiff_t>(std::min(history_slots, machine.use.size()));
    auto behaviour = std::make_shared<Behaviour>();
    behaviour->kind = Behaviour::Kind::endless;
    behaviour->series.assign(begin, machine.use.end());
    fleet.slots = std::max(fleet.slots, behaviour->series.size());
    machine.use.resize(std::min(history_slots, machine.use.size()));
    machine.use.shrink_to_fit();
    fleet.members.push_back(
        {std::move(machine.id), machine.cpu, machine.memory, std::move(machine.use), std::move(behaviour)});
  }
  for (const Usage& slot : sum)
    for (std::size_t d = 0; d < kDimensions; ++d)
      fleet.together.of[d] = std::max(fleet.together.of[d], slot.of[d]);
  std::sort(cpu_peaks.begin(), cpu_peaks.end());
  if (!cpu_peaks.empty()) fleet.large_cpu_peak = cpu_peaks[(cpu_peaks.size() - 1) * 95 / 100];
  return fleet;
}

Usage node_capacity(const Fleet& fleet, std::int64_t nodes) {
  const double all = kFilled * static_cast<double>(nodes);
  Usage capacity = fleet.apart * (1 / all);
  // A fleet that does nothing at all still needs nodes that exist.
  capacity[Dimension::cpu] = std::max(
      {fleet.together[Dimension::cpu] / all, fleet.large_cpu_peak / kLargestOfANode, 1 * kCoresPerMhz});
  capacity[Dimension::memory] = std::max(fleet.together[Dimension::memory] / all, 1 * kBytesPerMib);
  return capacity;
}

std::vector<RequestShare> request_shares(const Fleet& fleet, std::int64_t nodes, MachineRequests how) {
  const double wanted = kFilled * static_cast<double>(nodes);
  const auto count = static_cast<double>(fleet.members.size());
  std::vector<RequestShare> shares(fleet.members.size());
  const double equal = std::min(kLargestRequest, kEquallyFilled * static_cast<double>(nodes) / count);
  if (how == MachineRequests::equal) {
    std::fill(shares.begin(), shares.end(), RequestShare{equal, equal});
    return shares;
  }
  std::vector<double> cpu, memory;
  for (const Fleet::Member& member : fleet.members) {
    cpu.push_back(member.cpu);
    memory.push_back(member.memory);
  }
  const double cpu_unit = unit_of(cpu, wanted), memory_unit = unit_of(memory, wanted);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (cpu_unit > 0) shares[i].cpu = std::min(kLargestRequest, cpu[i] / cpu_unit);
    if (memory_unit > 0) shares[i].memory = std::min(kLargestRequest, memory[i] / memory_unit);
  }
  return shares;
}

}  // namespace evenkeel::simulator
