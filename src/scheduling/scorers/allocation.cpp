// NodeResourcesFit's LeastAllocated and MostAllocated, NodeResourcesBalancedAllocation.
//
// The scores are whole numbers, exactly kube-scheduler's, over all nodes at once.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/vector_clones.h"
#include "scheduling/scorers/scorer.h"

namespace evenkeel::scheduling {
namespace {

struct Asked {
  double cpu, memory;
};

// The mean of two percentages, each rounded down, rounded down: cluster_state.h's percent_per
// says why a product will do for a division. The second need not be rounded by itself: what
// it has beyond a whole number cannot lift the sum to the next.
inline float mean_percent(double cpu, double per_cpu, double memory, double per_memory) {
  return static_cast<float>(std::floor((std::floor(cpu * per_cpu) + memory * per_memory) * 0.5));
}

EVENKEEL_VECTOR_CLONES
void add_least(const NodeColumns& c, Asked asked, float weight, std::size_t n, float* totals) {
  const double *cpu = c.room_cpu.data(), *memory = c.room_memory.data();
  const double *per_cpu = c.percent_per_cpu.data(), *per_memory = c.percent_per_memory.data();
  for (std::size_t i = 0; i < n; ++i)
    totals[i] += weight * mean_percent(std::max(0.0, cpu[i] - asked.cpu), per_cpu[i],
                                       std::max(0.0, memory[i] - asked.memory), per_memory[i]);
}

EVENKEEL_VECTOR_CLONES
void add_most(const NodeColumns& c, Asked asked, float weight, std::size_t n, float* totals) {
  const double *cpu = c.room_cpu.data(), *memory = c.room_memory.data();
  const double *all_cpu = c.allocatable_cpu.data(), *all_memory = c.allocatable_memory.data();
  const double *per_cpu = c.percent_per_cpu.data(), *per_memory = c.percent_per_memory.data();
  for (std::size_t i = 0; i < n; ++i)  // more than there is counts as full
    totals[i] +=
        weight * mean_percent(all_cpu[i] - std::max(0.0, cpu[i] - asked.cpu), per_cpu[i],
                              all_memory[i] - std::max(0.0, memory[i] - asked.memory), per_memory[i]);
}

// Odd nodes were given nothing above: they are scored by what they have, one by one.
// `part`: what counts of a resource, given what there is and what is left of it.
template <class Part>
void add_odd_nodes(const NodeColumns& c, Asked asked, float weight, std::span<float> totals, Part part) {
  if (c.odd_nodes == 0) return;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    if (!c.present[i] || c.percent_per_cpu[i] != 0) continue;
    std::int64_t sum = 0, resources = 0;
    for (const auto& [all, left] : {std::pair{c.allocatable_cpu[i], c.room_cpu[i] - asked.cpu},
                                    std::pair{c.allocatable_memory[i], c.room_memory[i] - asked.memory}}) {
      if (all <= 0) continue;
      sum += static_cast<std::int64_t>(part(all, std::max(0.0, left))) * 100 / static_cast<std::int64_t>(all);
      ++resources;
    }
    if (resources == 0) continue;
    const std::int64_t mean = sum / resources;  // whole numbers, as the API has them
    totals[i] += weight * static_cast<float>(mean);
  }
}

// The balance is (1 - std) * 100 of the two shares, where the std of two numbers is half
// their distance. It is worked out in single precision first, block by block. A block in
// which some node comes so close to a whole number that rounding down may go the other way
// is worked out again exactly as kube-scheduler does it: a few in a hundred of the nodes.
constexpr float kTooClose = 5e-5F;
constexpr std::size_t kBlock = 128;
using Block = std::array<float, kBlock>;

// False: some node is too close.
EVENKEEL_VECTOR_CLONES
bool near_balance(const NodeColumns& c, Asked asked, std::size_t from, std::size_t n, float* balance) {
  const float *cpu_share = c.cpu_share.data() + from, *memory_share = c.memory_share.data() + from;
  const float *per_cpu = c.per_cpu_near.data() + from, *per_memory = c.per_memory_near.data() + from;
  const auto more_cpu = static_cast<float>(asked.cpu), more_memory = static_cast<float>(asked.memory);
  std::uint32_t close = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const float cpu = cpu_share[i] + more_cpu * per_cpu[i],
                memory = memory_share[i] + more_memory * per_memory[i];
    const float apart = (cpu < 1 ? cpu : 1.0F) - (memory < 1 ? memory : 1.0F);
    const float percent = 100.0F - 50.0F * std::fabs(apart);
    balance[i] = std::floor(percent + kTooClose);
    close |= static_cast<std::uint32_t>(percent - balance[i] < kTooClose);
  }
  return close == 0;
}

EVENKEEL_VECTOR_CLONES
void exact_balance(const NodeColumns& c, Asked asked, std::size_t from, std::size_t n, float* balance) {
  const double *all_cpu = c.allocatable_cpu.data() + from, *all_memory = c.allocatable_memory.data() + from;
  const double *used_cpu = c.requested_cpu.data() + from, *used_memory = c.requested_memory.data() + from;
  for (std::size_t i = 0; i < n; ++i) {
    const double cpu = std::min(1.0, (used_cpu[i] + asked.cpu) / all_cpu[i]);
    const double memory = std::min(1.0, (used_memory[i] + asked.memory) / all_memory[i]);
    const double score = std::floor((1.0 - std::fabs((cpu - memory) / 2)) * 100.0);
    balance[i] = all_cpu[i] > 0 && all_memory[i] > 0 ? static_cast<float>(score) : 100.0F;
  }
}

// Calls add(from, n, balance) for the nodes from … from + n, until all have had their turn.
template <class Add>
void for_balances(const NodeColumns& c, Asked asked, std::size_t nodes, Add add) {
  Block balance;
  for (std::size_t from = 0; from < nodes; from += kBlock) {
    const std::size_t n = std::min(kBlock, nodes - from);
    if (!near_balance(c, asked, from, n, balance.data())) exact_balance(c, asked, from, n, balance.data());
    add(from, n, balance.data());
  }
}

EVENKEEL_VECTOR_CLONES
void add_scaled(const float* scores, float weight, std::size_t n, float* totals) {
  for (std::size_t i = 0; i < n; ++i) totals[i] += weight * scores[i];
}

// 1.36 scores the improvement: 50 + (50 + with - without) / 2, in whole numbers.
EVENKEEL_VECTOR_CLONES
void add_improvement(const float* with, const float* without, float weight, std::size_t n, float* totals) {
  for (std::size_t i = 0; i < n; ++i)
    totals[i] += weight * (50.0F + std::trunc((50.0F + with[i] - without[i]) * 0.5F));
}

Asked non_zero(const PlacementRequest& request) {
  const NonZeroRequest& asked = request.pod.shape->scored;
  return {static_cast<double>(asked.cpu.count), static_cast<double>(asked.memory.count)};
}

Asked real(const PlacementRequest& request) {
  const Resources& asked = request.pod.shape->request;
  return {static_cast<double>(asked.cpu.count), static_cast<double>(asked.memory.count)};
}

}  // namespace

void least_allocated(const PlacementRequest& request, float weight, std::span<float> totals) {
  const NodeColumns& c = request.cluster.columns();
  const Asked asked = non_zero(request);
  add_least(c, asked, weight, totals.size(), totals.data());
  add_odd_nodes(c, asked, weight, totals, [](double, double left) { return left; });
}

void most_allocated(const PlacementRequest& request, float weight, std::span<float> totals) {
  const NodeColumns& c = request.cluster.columns();
  const Asked asked = non_zero(request);
  add_most(c, asked, weight, totals.size(), totals.data());
  add_odd_nodes(c, asked, weight, totals, [](double all, double left) { return all - left; });
}

void balanced_allocation_1_23(const PlacementRequest& request, float weight, std::span<float> totals) {
  for_balances(request.cluster.columns(), real(request), totals.size(),
               [&](std::size_t from, std::size_t n, const float* balance) {
                 add_scaled(balance, weight, n, totals.data() + from);
               });
}

void balanced_allocation_1_36(const PlacementRequest& request, float weight, std::span<float> totals) {
  const NodeColumns& c = request.cluster.columns();
  for_balances(c, real(request), totals.size(), [&](std::size_t from, std::size_t n, const float* balance) {
    add_improvement(balance, c.balance.data() + from, weight, n, totals.data() + from);
  });
}

bool requests_something(const PlacementRequest& request) {
  const Resources& asked = request.pod.shape->request;
  return asked.cpu.count > 0 || asked.memory.count > 0;
}

}  // namespace evenkeel::scheduling
