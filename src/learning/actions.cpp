#include "learning/actions.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace evenkeel::learning {

std::size_t allowed_count(std::span<const std::uint8_t> mask, std::size_t actions) {
  if (mask.empty()) return actions;
  EVENKEEL_CHECK(mask.size() == actions);
  return actions - static_cast<std::size_t>(std::count(mask.begin(), mask.end(), 0));
}

int best_allowed(std::span<const Real> values, std::span<const std::uint8_t> mask) {
  EVENKEEL_CHECK(mask.empty() || mask.size() == values.size());
  int best = -1;
  for (std::size_t a = 0; a < values.size(); ++a)
    if (is_allowed(mask, a) && (best < 0 || values[a] > values[static_cast<std::size_t>(best)]))
      best = static_cast<int>(a);
  return best;
}

int any_allowed(std::size_t actions, std::span<const std::uint8_t> mask, Random& random) {
  const std::size_t choices = allowed_count(mask, actions);
  EVENKEEL_CHECK(choices > 0);
  std::uint64_t left = random.below(choices);
  std::size_t action = 0;
  while (!is_allowed(mask, action) || left-- > 0) ++action;
  return static_cast<int>(action);
}

int ActionDistribution::sample(Random& random) const {
  Real left = random.uniform();
  int last = -1;  // takes what rounding leaves over
  for (Eigen::Index a = 0; a < probability.size(); ++a) {
    if (probability[a] <= 0) continue;
    last = static_cast<int>(a);
    left -= probability[a];
    if (left < 0) break;
  }
  EVENKEEL_CHECK(last >= 0);
  return last;
}

ActionDistribution softmax(std::span<const Real> logits, std::span<const std::uint8_t> mask) {
  const int top = best_allowed(logits, mask);
  EVENKEEL_CHECK(top >= 0);
  const Real highest = logits[static_cast<std::size_t>(top)];  // subtracted, so that exp cannot overflow
  const auto size = static_cast<Eigen::Index>(logits.size());
  ActionDistribution result{Vector::Zero(size), Vector::Zero(size)};
  Real sum = 0;
  for (std::size_t a = 0; a < logits.size(); ++a)
    if (is_allowed(mask, a)) sum += std::exp(logits[a] - highest);
  const Real log_sum = std::log(sum);
  for (std::size_t a = 0; a < logits.size(); ++a) {
    if (!is_allowed(mask, a)) continue;
    const auto i = static_cast<Eigen::Index>(a);
    result.log_probability[i] = logits[a] - highest - log_sum;
    result.probability[i] = std::exp(result.log_probability[i]);
  }
  return result;
}

}  // namespace evenkeel::learning
