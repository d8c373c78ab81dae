// NodeResourcesFit's LeastAllocated and MostAllocated, NodeResourcesBalancedAllocation.
//
// The API's arithmetic is on 64-bit integers, rounded down at each step. Here it is done
// on doubles that hold exact integers below 2^53, which vector units can divide by, and
// gives the same whole numbers.
#include <algorithm>
#include <cmath>

#include "scheduling/scorers/scorer.h"

namespace evenkeel::scheduling {
namespace {

// floor(100 * part / whole), exactly; 0 for an absent resource.
inline double percent(double part, double whole) { return std::floor(part * 100.0 / whole); }

struct Asked {
  double cpu, memory;
};

[[gnu::target_clones("arch=x86-64-v3", "default")]]
void rate_least(const double* cpu, const double* memory, const double* used_cpu, const double* used_memory,
                Asked asked, std::size_t n, float* scores) {
  for (std::size_t i = 0; i < n; ++i) {
    const double left_cpu = std::max(0.0, cpu[i] - used_cpu[i] - asked.cpu);
    const double left_memory = std::max(0.0, memory[i] - used_memory[i] - asked.memory);
    const double a = cpu[i] > 0 ? percent(left_cpu, cpu[i]) : 0;
    const double b = memory[i] > 0 ? percent(left_memory, memory[i]) : 0;
    const double parts = (cpu[i] > 0 ? 1.0 : 0.0) + (memory[i] > 0 ? 1.0 : 0.0);
    scores[i] = static_cast<float>(std::floor((a + b) / std::max(1.0, parts)));
  }
}

[[gnu::target_clones("arch=x86-64-v3", "default")]]
void rate_most(const double* cpu, const double* memory, const double* used_cpu, const double* used_memory,
               Asked asked, std::size_t n, float* scores) {
  for (std::size_t i = 0; i < n; ++i) {
    // Non-zero requests may exceed what there is; that counts as full.
    const double full_cpu = std::min(cpu[i], used_cpu[i] + asked.cpu);
    const double full_memory = std::min(memory[i], used_memory[i] + asked.memory);
    const double a = cpu[i] > 0 ? percent(full_cpu, cpu[i]) : 0;
    const double b = memory[i] > 0 ? percent(full_memory, memory[i]) : 0;
    const double parts = (cpu[i] > 0 ? 1.0 : 0.0) + (memory[i] > 0 ? 1.0 : 0.0);
    scores[i] = static_cast<float>(std::floor((a + b) / std::max(1.0, parts)));
  }
}

inline double share(double part, double whole) { return std::min(1.0, part / whole); }

// (1 - std) * 100 of the two shares, where std of two numbers is half their distance.
inline double balance(double cpu_share, double memory_share) {
  return std::floor((1.0 - std::fabs((cpu_share - memory_share) / 2)) * 100.0);
}

[[gnu::target_clones("arch=x86-64-v3", "default")]]
void rate_balance(const double* cpu, const double* memory, const double* used_cpu, const double* used_memory,
                  Asked asked, std::size_t n, float* scores) {
  for (std::size_t i = 0; i < n; ++i) {
    const bool both = cpu[i] > 0 && memory[i] > 0;
    scores[i] = both ? static_cast<float>(balance(share(used_cpu[i] + asked.cpu, cpu[i]),
                                                  share(used_memory[i] + asked.memory, memory[i])))
                     : 100.0F;
  }
}

[[gnu::target_clones("arch=x86-64-v3", "default")]]
void rate_improvement(const double* cpu, const double* memory, const double* used_cpu,
                      const double* used_memory, Asked asked, std::size_t n, float* scores) {
  for (std::size_t i = 0; i < n; ++i) {
    const bool both = cpu[i] > 0 && memory[i] > 0;
    const double with = both ? balance(share(used_cpu[i] + asked.cpu, cpu[i]),
                                       share(used_memory[i] + asked.memory, memory[i]))
                             : 100.0;
    const double without =
        both ? balance(share(used_cpu[i], cpu[i]), share(used_memory[i], memory[i])) : 100.0;
    scores[i] = static_cast<float>(50.0 + std::trunc((50.0 + with - without) / 2));
  }
}

Asked non_zero(const PlacementRequest& request) {
  const NonZeroRequest& asked = request.pod.shape->non_zero;
  return {static_cast<double>(asked.cpu.count), static_cast<double>(asked.memory.count)};
}

Asked real(const PlacementRequest& request) {
  const Resources& asked = request.pod.shape->request;
  return {static_cast<double>(asked.cpu.count), static_cast<double>(asked.memory.count)};
}

}  // namespace

void least_allocated(const PlacementRequest& request, std::span<float> scores) {
  const NodeColumns& c = request.cluster.columns();
  rate_least(c.allocatable_cpu.data(), c.allocatable_memory.data(), c.non_zero_cpu.data(),
             c.non_zero_memory.data(), non_zero(request), scores.size(), scores.data());
}

void most_allocated(const PlacementRequest& request, std::span<float> scores) {
  const NodeColumns& c = request.cluster.columns();
  rate_most(c.allocatable_cpu.data(), c.allocatable_memory.data(), c.non_zero_cpu.data(),
            c.non_zero_memory.data(), non_zero(request), scores.size(), scores.data());
}

void balanced_allocation_1_23(const PlacementRequest& request, std::span<float> scores) {
  const NodeColumns& c = request.cluster.columns();
  rate_balance(c.allocatable_cpu.data(), c.allocatable_memory.data(), c.requested_cpu.data(),
               c.requested_memory.data(), real(request), scores.size(), scores.data());
}

void balanced_allocation_1_36(const PlacementRequest& request, std::span<float> scores) {
  const NodeColumns& c = request.cluster.columns();
  rate_improvement(c.allocatable_cpu.data(), c.allocatable_memory.data(), c.requested_cpu.data(),
                   c.requested_memory.data(), real(request), scores.size(), scores.data());
}

bool requests_something(const PlacementRequest& request) {
  const Resources& asked = request.pod.shape->request;
  return asked.cpu.count > 0 || asked.memory.count > 0;
}

}  // namespace evenkeel::scheduling
