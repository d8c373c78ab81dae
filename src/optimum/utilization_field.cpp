#include "optimum/utilization_field.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::optimum {
namespace {

constexpr std::size_t kVector = 8;

// The cost of moving a demand from one node to another, slot by slot. Lanes are summed separately and in the
// order of time, so that the result is the same whatever the vector width.
struct Rows {
  const float *from, *to, *from_unit, *to_unit, *sums, *squares, *deviations, *demand;
  std::size_t stride;
};
template <class Slot>
[[gnu::always_inline]] inline void add_slot(const Slot& slot, const Rows& r, std::size_t s, float* total) {
  const float* x = r.demand + s * r.stride;
  for (std::size_t d = 0; d < kVector; ++d) {
    const std::size_t k = s * kVector + d;
    const float a = r.from[k], b = r.to[k];
    const float a2 = a - x[d] * r.from_unit[d], b2 = b + x[d] * r.to_unit[d];
    const float ca = a < 1 ? a : 1.0F, cb = b < 1 ? b : 1.0F;
    const float ca2 = a2 < 1 ? a2 : 1.0F, cb2 = b2 < 1 ? b2 : 1.0F;
    const float mean = (r.sums[k] + ((ca2 - ca) + (cb2 - cb))) * slot.over_count;
    const float squares = r.squares[k] + ((ca2 * ca2 - ca * ca) + (cb2 * cb2 - cb * cb));
    const float variance = squares * slot.over_count - mean * mean;
    const float spread = std::sqrt(variance > 0 ? variance : 0.0F) - r.deviations[k];
    const float excess = ((a2 - ca2) - (a - ca)) + ((b2 - cb2) - (b - cb));
    total[d] += slot.imbalance * spread + slot.overload * excess;
  }
}

struct SlotWeights {
  float over_count, imbalance, overload;
};

[[gnu::target_clones("arch=x86-64-v3", "default")]]
double difference_over(const SlotWeights* slots, std::size_t n, Rows rows) {
  float total[kVector] = {};
  for (std::size_t s = 0; s < n; ++s) add_slot(slots[s], rows, s, total);
  double sum = 0;
  for (const float lane : total) sum += static_cast<double>(lane);
  return sum;
}

}  // namespace
}  // namespace evenkeel::optimum
