#include "scheduling/imbalance.h"

#include <cmath>

#include "base/vector_clones.h"

namespace evenkeel::scheduling {
namespace {

constexpr std::size_t kLanes = 16;  // partial sums side by side: one order of adding, whatever the vector width
constexpr float kCentre = 0.25F;    // about where utilisations lie: squares stay small and exact

struct Sums {
  double sum = 0, squares = 0;
};

EVENKEEL_VECTOR_CLONES
Sums centred_sums(const float* values, std::size_t n) {
  Floats16 sum = {}, squares = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    Floats16 x;
    load(x, values + i);
    x -= kCentre;
    sum += x;
    squares += x * x;
  }
  Sums total;
  for (; i < n; ++i) {
    const double x = static_cast<double>(values[i]) - kCentre;
    total.sum += x;
    total.squares += x * x;
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    total.sum += sum[lane];
    total.squares += squares[lane];
  }
  return total;
}

// What each dimension needs, with x a node's distance from the mean and a what is added: n
// nodes' variance grows by (2 x a + a^2 (1 - 1/n)) / n. The change alone, so nothing cancels.
struct Term {
  const float *values, *per_unit;
  float mean, variance, added;
};

EVENKEEL_VECTOR_CLONES
void add_deviations(const Term* terms, std::size_t count, std::size_t n, float over_n, float weight, float* costs) {
  constexpr std::size_t kBlock = 256;  // stays in the first cache while the dimensions pass by
  const float twice = 2 * over_n, own = over_n * (1 - over_n);
  for (std::size_t from = 0; from < n; from += kBlock) {
    const std::size_t to = from + kBlock < n ? from + kBlock : n;
    for (std::size_t t = 0; t < count; ++t) {
      const Term term = terms[t];
      for (std::size_t i = from; i < to; ++i) {
        const float a = term.added * term.per_unit[i];
        const float after = term.variance + a * (twice * (term.values[i] - term.mean) + own * a);
        costs[i] += weight * std::sqrt(after > 0 ? after : 0.0F);
      }
    }
  }
}

}  // namespace

double Imbalance::value() const {
  double sum = 0;
  for (const double v : variance) sum += std::sqrt(v);
  return sum / kDimensions;
}

Imbalance imbalance_of(const UtilizationField& field, std::size_t nodes) {
  Imbalance result;
  result.nodes = static_cast<double>(nodes);
  if (nodes == 0) return result;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    Sums sums = centred_sums(field[d].data(), field[d].size());
    // Absent nodes hold 0: take them out again.
    const auto absent = static_cast<double>(field[d].size() - nodes);
    sums.sum += absent * kCentre;
    sums.squares -= absent * kCentre * kCentre;
    const double off = sums.sum / result.nodes;
    result.mean[d] = kCentre + off;
    result.variance[d] = std::max(0.0, sums.squares / result.nodes - off * off);
  }
  return result;
}

void add_imbalance_after(const UtilizationField& field, const UtilizationField& per_unit, const Imbalance& before,
                         const Usage& added, float weight, std::span<float> costs) {
  std::array<Term, kDimensions> terms;
  std::size_t count = 0;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    if (added.of[d] <= 0) continue;  // changes nothing, on whichever node
    terms[count++] = {field[d].data(), per_unit[d].data(), static_cast<float>(before.mean[d]),
                      static_cast<float>(before.variance[d]), static_cast<float>(added.of[d])};
  }
  add_deviations(terms.data(), count, costs.size(), static_cast<float>(1.0 / before.nodes), weight, costs.data());
}

}  // namespace evenkeel::scheduling
