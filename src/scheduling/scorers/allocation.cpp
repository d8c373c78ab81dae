// NodeResourcesFit's LeastAllocated and MostAllocated, NodeResourcesBalancedAllocation.
//
// The scores are whole numbers, exactly kube-scheduler's, over all nodes at once.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/vector_clones.h"
#include "scheduling/scorers/scorer.h"

namespace evenkeel::scheduling {
namespace {

struct Asked {
  double cpu, memory;
};

// The balance is worked out in single precision first. Where it comes so close to a whole
// number that rounding down may go the other way the node is marked (-1), and worked out
// again exactly: a few in ten thousand.
constexpr float kTooClose = 5e-5F;
constexpr float kMarked = -1;

struct NearShares {
  const float *cpu, *memory, *per_cpu, *per_memory;
};

EVENKEEL_VECTOR_CLONES
std::size_t count_marked(const float* scores, std::size_t n) {
  std::uint32_t marked = 0;
  for (std::size_t i = 0; i < n; ++i) marked += static_cast<std::uint32_t>(scores[i] < 0);
  return marked;
}

template <class Exact>
void mend_marked(const NodeColumns& c, std::span<float> scores, Exact exact) {
  constexpr std::size_t kBlock = 128;
  for (std::size_t from = 0; from < scores.size(); from += kBlock) {
    const std::size_t to = std::min(from + kBlock, scores.size());
    if (c.odd_nodes == 0 && count_marked(scores.data() + from, to - from) == 0) continue;
    for (std::size_t i = from; i < to; ++i)
      if (scores[i] < 0 || c.per_cpu_near[i] == 0 || c.per_memory_near[i] == 0)
        scores[i] = static_cast<float>(exact(i));
  }
}

// A share rounded down to per cent, or marked.
inline float whole_percent(float percent) {
  const float whole = std::floor(percent + kTooClose);
  return percent - whole < kTooClose ? -1000.0F : whole;
}

// floor(100 * part / whole), exactly: by the reciprocal, then set right by the remainder,
// which is quicker than a division. 0 where the whole is 0 (and so its reciprocal).
inline double percent(double part, double whole, double per_whole) {
  const double hundred = part * 100.0;
  const double guess = std::floor(hundred * per_whole);
  const double left = hundred - guess * whole;
  return guess + (left >= whole ? 1.0 : 0.0) - (left < 0 ? 1.0 : 0.0);
}

EVENKEEL_VECTOR_CLONES
void add_least(const NodeColumns& c, Asked asked, float weight, std::size_t n, float* totals) {
  const double *cpu = c.allocatable_cpu.data(), *memory = c.allocatable_memory.data();
  const double *used_cpu = c.non_zero_cpu.data(), *used_memory = c.non_zero_memory.data();
  const double *per_cpu = c.per_cpu.data(), *per_memory = c.per_memory.data();
  for (std::size_t i = 0; i < n; ++i) {
    const double a = percent(std::max(0.0, cpu[i] - used_cpu[i] - asked.cpu), cpu[i], per_cpu[i]);
    const double b = percent(std::max(0.0, memory[i] - used_memory[i] - asked.memory), memory[i], per_memory[i]);
    totals[i] += weight * static_cast<float>(std::floor((a + b) * 0.5));
  }
}

EVENKEEL_VECTOR_CLONES
void add_most(const NodeColumns& c, Asked asked, float weight, std::size_t n, float* totals) {
  const double *cpu = c.allocatable_cpu.data(), *memory = c.allocatable_memory.data();
  const double *used_cpu = c.non_zero_cpu.data(), *used_memory = c.non_zero_memory.data();
  const double *per_cpu = c.per_cpu.data(), *per_memory = c.per_memory.data();
  for (std::size_t i = 0; i < n; ++i) {
    // Non-zero requests may exceed what there is; that counts as full.
    const double a = percent(std::min(cpu[i], used_cpu[i] + asked.cpu), cpu[i], per_cpu[i]);
    const double b = percent(std::min(memory[i], used_memory[i] + asked.memory), memory[i], per_memory[i]);
    totals[i] += weight * static_cast<float>(std::floor((a + b) * 0.5));
  }
}

// A node without CPU or without memory is scored by what it has: there the half above was
// wrong, and this adds the rest. `part` is the sum of both percentages, one of which is 0.
template <class Part>
void mend_odd_nodes(const NodeColumns& c, float weight, std::span<float> totals, Part part) {
  if (c.odd_nodes == 0) return;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    if (!c.present[i] || (c.allocatable_cpu[i] > 0) == (c.allocatable_memory[i] > 0)) continue;
    const double whole = part(i);
    totals[i] += weight * static_cast<float>(whole - std::floor(whole * 0.5));
  }
}

// (1 - std) * 100 of the two shares, where the std of two numbers is half their distance.
double exact_balance(const NodeColumns& c, Asked asked, std::size_t i) {
  if (c.allocatable_cpu[i] <= 0 || c.allocatable_memory[i] <= 0) return 100.0;
  const double cpu = std::min(1.0, (c.requested_cpu[i] + asked.cpu) / c.allocatable_cpu[i]);
  const double memory = std::min(1.0, (c.requested_memory[i] + asked.memory) / c.allocatable_memory[i]);
  return std::floor((1.0 - std::fabs((cpu - memory) / 2)) * 100.0);
}

EVENKEEL_VECTOR_CLONES
void near_balance(NearShares used, float asked_cpu, float asked_memory, std::size_t n, float* scores) {
  for (std::size_t i = 0; i < n; ++i) {
    const float cpu = used.cpu[i] + asked_cpu * used.per_cpu[i];
    const float memory = used.memory[i] + asked_memory * used.per_memory[i];
    const float apart = (cpu < 1 ? cpu : 1.0F) - (memory < 1 ? memory : 1.0F);
    const float score = whole_percent(100.0F - 50.0F * std::fabs(apart));
    scores[i] = score < 0 ? kMarked : score;
  }
}

std::span<const float> balance_with(const NodeColumns& c, Asked asked, std::span<float> scores) {
  near_balance({c.cpu_share.data(), c.memory_share.data(), c.per_cpu_near.data(), c.per_memory_near.data()},
               static_cast<float>(asked.cpu), static_cast<float>(asked.memory), scores.size(), scores.data());
  mend_marked(c, scores, [&](std::size_t i) { return exact_balance(c, asked, i); });
  return scores;
}

// Room for one plugin's scores, kept between calls.
std::span<float> scratch(std::size_t n) {
  thread_local std::vector<float> scores;
  scores.resize(n);
  return scores;
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
  const NonZeroRequest& asked = request.pod.shape->non_zero;
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
  mend_odd_nodes(c, weight, totals, [&](std::size_t i) {
    return percent(std::max(0.0, c.allocatable_cpu[i] - c.non_zero_cpu[i] - asked.cpu), c.allocatable_cpu[i],
                   c.per_cpu[i]) +
           percent(std::max(0.0, c.allocatable_memory[i] - c.non_zero_memory[i] - asked.memory),
                   c.allocatable_memory[i], c.per_memory[i]);
  });
}

void most_allocated(const PlacementRequest& request, float weight, std::span<float> totals) {
  const NodeColumns& c = request.cluster.columns();
  const Asked asked = non_zero(request);
  add_most(c, asked, weight, totals.size(), totals.data());
  mend_odd_nodes(c, weight, totals, [&](std::size_t i) {
    return percent(std::min(c.allocatable_cpu[i], c.non_zero_cpu[i] + asked.cpu), c.allocatable_cpu[i], c.per_cpu[i]) +
           percent(std::min(c.allocatable_memory[i], c.non_zero_memory[i] + asked.memory), c.allocatable_memory[i],
                   c.per_memory[i]);
  });
}

void balanced_allocation_1_23(const PlacementRequest& request, float weight, std::span<float> totals) {
  const auto with = balance_with(request.cluster.columns(), real(request), scratch(totals.size()));
  add_scaled(with.data(), weight, totals.size(), totals.data());
}

void balanced_allocation_1_36(const PlacementRequest& request, float weight, std::span<float> totals) {
  const NodeColumns& c = request.cluster.columns();
  const auto with = balance_with(c, real(request), scratch(totals.size()));
  add_improvement(with.data(), c.balance.data(), weight, totals.size(), totals.data());
}

bool requests_something(const PlacementRequest& request) {
  const Resources& asked = request.pod.shape->request;
  return asked.cpu.count > 0 || asked.memory.count > 0;
}

}  // namespace evenkeel::scheduling
