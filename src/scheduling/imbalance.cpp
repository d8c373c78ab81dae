#include "scheduling/imbalance.h"

#include <cmath>

namespace evenkeel::scheduling {
namespace {

constexpr std::size_t kLanes = 16;  // partial sums side by side: exact order, whatever the vector width

struct Sums {
  double sum = 0, squares = 0;
};

[[gnu::target_clones("arch=x86-64-v3", "default")]]
Sums centred_sums(const float* values, const std::uint8_t* present, std::size_t n, float centre) {
  float sum[kLanes] = {}, squares[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float x = present[i + lane] ? values[i + lane] - centre : 0.0F;
      sum[lane] += x;
      squares[lane] += x * x;
    }
  Sums total;
  for (; i < n; ++i) {
    const double x = present[i] ? static_cast<double>(values[i]) - centre : 0.0;
    total.sum += x;
    total.squares += x * x;
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    total.sum += sum[lane];
    total.squares += squares[lane];
  }
  return total;
}

// With x the node's distance from the mean and a what is added, n nodes' variance grows
// by (2 x a + a^2 (1 - 1/n)) / n: the change alone, so that nothing cancels.
[[gnu::target_clones("arch=x86-64-v3", "default")]]
void add_deviation(const float* values, const float* per_unit, std::size_t n, float mean, float variance,
                   float added, float over_n, float weight, float* costs) {
  const float twice = 2 * over_n, own = over_n * (1 - over_n);
  for (std::size_t i = 0; i < n; ++i) {
    const float a = added * per_unit[i];
    const float after = variance + a * (twice * (values[i] - mean) + own * a);
    costs[i] += weight * std::sqrt(after > 0 ? after : 0.0F);
  }
}

}  // namespace

double Imbalance::value() const {
  double sum = 0;
  for (const double v : variance) sum += std::sqrt(v);
  return sum / kDimensions;
}

Imbalance imbalance_of(const UtilizationField& field, std::span<const std::uint8_t> present) {
  Imbalance result;
  for (const std::uint8_t here : present) result.nodes += here;
  if (result.nodes == 0) return result;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const Sums plain = centred_sums(field[d].data(), present.data(), present.size(), 0);
    result.mean[d] = plain.sum / result.nodes;
    const auto centre = static_cast<float>(result.mean[d]);
    const Sums centred = centred_sums(field[d].data(), present.data(), present.size(), centre);
    const double off = centred.sum / result.nodes;  // what rounding left in the centre
    result.variance[d] = std::max(0.0, centred.squares / result.nodes - off * off);
  }
  return result;
}

void add_imbalance_after(const UtilizationField& field, const UtilizationField& per_unit,
                         const Imbalance& before, const Usage& added, float weight, std::span<float> costs) {
  const auto over_n = static_cast<float>(1.0 / before.nodes);
  for (std::size_t d = 0; d < kDimensions; ++d)
    add_deviation(field[d].data(), per_unit[d].data(), costs.size(), static_cast<float>(before.mean[d]),
                  static_cast<float>(before.variance[d]), static_cast<float>(added.of[d]), over_n, weight,
                  costs.data());
}

}  // namespace evenkeel::scheduling
