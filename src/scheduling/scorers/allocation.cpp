// NodeResourcesFit's LeastAllocated and MostAllocated, NodeResourcesBalancedAllocation.
//
// The API's arithmetic is on 64-bit integers, rounded down at each step. Here it is done
// on doubles that hold exact integers below 2^53, which vector units can divide by, and
// gives the same whole numbers.
#include <algorithm>
#include <cmath>

#include "base/vector_clones.h"
#include "scheduling/scorers/scorer.h"

namespace evenkeel::scheduling {
namespace {

struct Asked {
  double cpu, memory;
};

// floor(100 * part / whole), exactly: by the reciprocal, then set right by the remainder,
// which is quicker than a division. 0 where the whole is 0 (and so its reciprocal).
inline double percent(double part, double whole, double per_whole) {
  const double hundred = part * 100.0;
  const double guess = std::floor(hundred * per_whole);
  const double left = hundred - guess * whole;
  return guess + (left >= whole ? 1.0 : 0.0) - (left < 0 ? 1.0 : 0.0);
}

EVENKEEL_VECTOR_CLONES
void rate_least(const NodeColumns& c, Asked asked, std::size_t n, float* scores) {
  const double *cpu = c.allocatable_cpu.data(), *memory = c.allocatable_memory.data();
  const double *used_cpu = c.non_zero_cpu.data(), *used_memory = c.non_zero_memory.data();
  const double *per_cpu = c.per_cpu.data(), *per_memory = c.per_memory.data();
  for (std::size_t i = 0; i < n; ++i) {
    const double a = percent(std::max(0.0, cpu[i] - used_cpu[i] - asked.cpu), cpu[i], per_cpu[i]);
    const double b = percent(std::max(0.0, memory[i] - used_memory[i] - asked.memory), memory[i], per_memory[i]);
    scores[i] = static_cast<float>(std::floor((a + b) * 0.5));
  }
}

EVENKEEL_VECTOR_CLONES
void rate_most(const NodeColumns& c, Asked asked, std::size_t n, float* scores) {
  const double *cpu = c.allocatable_cpu.data(), *memory = c.allocatable_memory.data();
  const double *used_cpu = c.non_zero_cpu.data(), *used_memory = c.non_zero_memory.data();
  const double *per_cpu = c.per_cpu.data(), *per_memory = c.per_memory.data();
  for (std::size_t i = 0; i < n; ++i) {
    // Non-zero requests may exceed what there is; that counts as full.
    const double a = percent(std::min(cpu[i], used_cpu[i] + asked.cpu), cpu[i], per_cpu[i]);
    const double b = percent(std::min(memory[i], used_memory[i] + asked.memory), memory[i], per_memory[i]);
    scores[i] = static_cast<float>(std::floor((a + b) * 0.5));
  }
}

// A node without CPU or without memory is scored by what it has.
void mend_odd_nodes(const NodeColumns& c, std::span<float> scores) {
  if (c.odd_nodes == 0) return;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (c.present[i] && (c.allocatable_cpu[i] > 0) != (c.allocatable_memory[i] > 0)) scores[i] *= 2;
}

// (1 - std) * 100 of the two shares, where the std of two numbers is half their distance.
inline double balance(double cpu_share, double memory_share) {
  return (1.0 - std::fabs((cpu_share - memory_share) / 2)) * 100.0;
}

inline double exact_balance(const NodeColumns& c, Asked asked, std::size_t i) {
  if (c.allocatable_cpu[i] <= 0 || c.allocatable_memory[i] <= 0) return 100.0;
  return std::floor(balance(std::min(1.0, (c.requested_cpu[i] + asked.cpu) / c.allocatable_cpu[i]),
                            std::min(1.0, (c.requested_memory[i] + asked.memory) / c.allocatable_memory[i])));
}

// The balance with the pod, rounded down. Shares come from reciprocals, which may be off in
// the last bit: nodes so close to a whole number that it might matter are counted, and
// worked out again with true divisions.
constexpr double kTooClose = 1e-9;

EVENKEEL_VECTOR_CLONES
std::size_t rate_balance(const NodeColumns& c, Asked asked, std::size_t n, float* scores) {
  const double *used_cpu = c.requested_cpu.data(), *used_memory = c.requested_memory.data();
  const double *per_cpu = c.per_cpu.data(), *per_memory = c.per_memory.data();
  std::size_t close = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double score = balance(std::min(1.0, (used_cpu[i] + asked.cpu) * per_cpu[i]),
                                 std::min(1.0, (used_memory[i] + asked.memory) * per_memory[i]));
    const double whole = std::floor(score + kTooClose);
    close += static_cast<std::size_t>(score - whole < kTooClose);
    scores[i] = static_cast<float>(std::floor(score));
  }
  return close;
}

void balance_with(const NodeColumns& c, Asked asked, std::span<float> scores) {
  if (rate_balance(c, asked, scores.size(), scores.data()) == 0 && c.odd_nodes == 0) return;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!c.present[i]) continue;
    const double score = balance(std::min(1.0, (c.requested_cpu[i] + asked.cpu) * c.per_cpu[i]),
                                 std::min(1.0, (c.requested_memory[i] + asked.memory) * c.per_memory[i]));
    const bool odd = c.allocatable_cpu[i] <= 0 || c.allocatable_memory[i] <= 0;
    if (odd || score - std::floor(score + kTooClose) < kTooClose)
      scores[i] = static_cast<float>(exact_balance(c, asked, i));
  }
}

// 1.36 scores the improvement: 50 + (50 + with - without) / 2, in whole numbers.
EVENKEEL_VECTOR_CLONES
void improve(const double* cpu_share, const double* memory_share, std::size_t n, float* scores) {
  for (std::size_t i = 0; i < n; ++i) {
    const double without = std::floor(balance(cpu_share[i], memory_share[i]));
    scores[i] = static_cast<float>(50.0 + std::trunc((50.0 + static_cast<double>(scores[i]) - without) * 0.5));
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
  rate_least(request.cluster.columns(), non_zero(request), scores.size(), scores.data());
  mend_odd_nodes(request.cluster.columns(), scores);
}

void most_allocated(const PlacementRequest& request, std::span<float> scores) {
  rate_most(request.cluster.columns(), non_zero(request), scores.size(), scores.data());
  mend_odd_nodes(request.cluster.columns(), scores);
}

void balanced_allocation_1_23(const PlacementRequest& request, std::span<float> scores) {
  balance_with(request.cluster.columns(), real(request), scores);
}

void balanced_allocation_1_36(const PlacementRequest& request, std::span<float> scores) {
  const NodeColumns& c = request.cluster.columns();
  balance_with(c, real(request), scores);
  improve(c.cpu_share.data(), c.memory_share.data(), scores.size(), scores.data());
}

bool requests_something(const PlacementRequest& request) {
  const Resources& asked = request.pod.shape->request;
  return asked.cpu.count > 0 || asked.memory.count > 0;
}

}  // namespace evenkeel::scheduling
