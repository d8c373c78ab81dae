#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "learning/real.h"

namespace evenkeel::learning {

// Which of a fixed number of actions may be taken: 1 or 0 each; an empty mask allows all.
using Mask = std::vector<std::uint8_t>;

inline bool is_allowed(std::span<const std::uint8_t> mask, std::size_t action) {
  return mask.empty() || mask[action] != 0;
}
std::size_t allowed_count(std::span<const std::uint8_t> mask, std::size_t actions);

// The allowed action of the highest value, the first among equals; -1 where none is allowed.
int best_allowed(std::span<const Real> values, std::span<const std::uint8_t> mask);

// An allowed action, each equally likely; there must be one.
int any_allowed(std::size_t actions, std::span<const std::uint8_t> mask, Random& random);

// A softmax over the allowed actions. Forbidden ones have probability 0 and log probability 0, so that sums
// of products with them need no special case.
struct ActionDistribution {
  Vector probability, log_probability;

  Real entropy() const { return -probability.dot(log_probability); }
  int sample(Random& random) const;  // never a forbidden action, whatever the rounding
};
ActionDistribution softmax(std::span<const Real> logits, std::span<const std::uint8_t> mask);

}  // namespace evenkeel::learning
