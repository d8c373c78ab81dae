#include <limits>

#include "base/check.h"
#include "scheduling/policies/policy.h"

namespace evenkeel::scheduling {
namespace {

struct Best {
  float score;
  std::uint32_t ties;
};

[[gnu::target_clones("arch=x86-64-v3", "default")]]
float highest(const float* scores, const std::uint8_t* feasible, std::size_t n) {
  // Lanes by hand: a plain maximum over floats may not be reordered by the compiler.
  constexpr std::size_t kLanes = 16;
  float best[kLanes];
  for (float& lane : best) lane = -std::numeric_limits<float>::infinity();
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float score = feasible[i + lane] ? scores[i + lane] : -std::numeric_limits<float>::infinity();
      best[lane] = score > best[lane] ? score : best[lane];
    }
  float top = -std::numeric_limits<float>::infinity();
  for (const float lane : best) top = lane > top ? lane : top;
  for (; i < n; ++i)
    if (feasible[i] && scores[i] > top) top = scores[i];
  return top;
}

[[gnu::target_clones("arch=x86-64-v3", "default")]]
std::uint32_t count_equal(const float* scores, const std::uint8_t* feasible, std::size_t n, float wanted) {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < n; ++i)
    count += static_cast<std::uint32_t>(feasible[i] != 0) & static_cast<std::uint32_t>(scores[i] == wanted);
  return count;
}

}  // namespace

NodeId pick_highest(std::span<const float> scores, std::span<const std::uint8_t> feasible, Random& random) {
  const float top = highest(scores.data(), feasible.data(), scores.size());
  const std::uint32_t ties = count_equal(scores.data(), feasible.data(), scores.size(), top);
  EVENKEEL_CHECK(ties > 0);
  std::uint64_t skip = ties == 1 ? 0 : random.below(ties);
  for (std::uint32_t slot = 0;; ++slot)
    if (feasible[slot] && scores[slot] == top && skip-- == 0) return {slot};
}

}  // namespace evenkeel::scheduling
