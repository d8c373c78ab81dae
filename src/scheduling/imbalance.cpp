#include "scheduling/imbalance.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/vector_clones.h"

namespace evenkeel::scheduling {
namespace {

constexpr std::size_t kLanes =
    16;                           // partial sums side by side: one order of adding, whatever the vector width
constexpr float kCentre = 0.25F;  // about where utilisations lie: squares stay small and exact

struct Sums {
  double sum = 0, squares = 0;
};

// Several columns at once: additions to one sum wait for each other, those to different sums do not.
constexpr std::size_t kAbreast = 3;
static_assert(kDimensions % kAbreast == 0);

EVENKEEL_VECTOR_CLONES
void centred_sums(const std::span<const float>* columns, std::size_t n, Sums* totals) {
  Floats16 sum[kAbreast] = {}, squares[kAbreast] = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t c = 0; c < kAbreast; ++c) {
      Floats16 x;
      load(x, columns[c].data() + i);
      x -= kCentre;
      sum[c] += x;
      squares[c] += x * x;
    }
  }
  for (std::size_t c = 0; c < kAbreast; ++c) {
    Sums total;
    for (std::size_t rest = i; rest < n; ++rest) {
      const double x = static_cast<double>(columns[c][rest]) - kCentre;
      total.sum += x;
      total.squares += x * x;
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      total.sum += sum[c][lane];
      total.squares += squares[c][lane];
    }
    totals[c] = total;
  }
}

// What each dimension needs, with x a node's distance from the mean and a what is added: n
// nodes' variance grows by (2 x a + a^2 (1 - 1/n)) / n. The change alone, so nothing cancels.
struct Term {
  const float *values, *per_unit;
  float mean, variance, added;
};

EVENKEEL_VECTOR_CLONES
void add_deviations(const Term& term, std::size_t from, std::size_t n, float over_n, float weight,
                    float* costs) {
  const float *values = term.values + from, *per_unit = term.per_unit + from;
  const float twice = 2 * over_n, own = over_n * (1 - over_n);
  for (std::size_t i = 0; i < n; ++i) {
    const float a = term.added * per_unit[i];
    const float after = term.variance + a * (twice * (values[i] - term.mean) + own * a);
    costs[i] += weight * std::sqrt(after > 0 ? after : 0.0F);
  }
}

// The same without roots, which are what a walk over many nodes would mostly be made of. There
// one pod changes the variance by a small part r of itself, and
// sqrt(1 + r) = 1 + r/2 - r^2/8 + r^3/16 - 5 r^4/128 to the last digit of single precision.
constexpr float kSmallPart = 1.0F / 16, kLeastVariance = 1e-20F;
constexpr std::size_t kBlock = 256;  // stays in the first cache while the dimensions pass by

// False: some part is not small, and the costs are spoilt.
EVENKEEL_VECTOR_CLONES
bool add_near_deviations(const Term& term, std::size_t from, std::size_t n, float over_n, float weight,
                         float* costs) {
  const float *values = term.values + from, *per_unit = term.per_unit + from;
  const float scaled = term.added / term.variance, mean = term.mean;
  const float twice = scaled * 2 * over_n, own = scaled * term.added * over_n * (1 - over_n);
  const float root = weight * std::sqrt(term.variance);
  const float first = root / 2, second = -root / 8, third = root / 16, fourth = root * (-5.0F / 128);
  std::uint32_t large = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const float r = per_unit[i] * (twice * (values[i] - mean) + own * per_unit[i]);
    const float square = r * r;
    costs[i] += (root + r * first) + square * ((second + r * third) + square * fourth);
    large |= static_cast<std::uint32_t>(square > kSmallPart * kSmallPart);
  }
  return large == 0;
}

void add_deviations(std::span<const Term> terms, float over_n, float weight, std::span<float> costs) {
  const bool many = costs.size() >= kManyNodes;
  alignas(64) std::array<float, kBlock> before;
  for (std::size_t from = 0; from < costs.size(); from += kBlock) {
    const std::size_t n = std::min(kBlock, costs.size() - from);
    float* block = costs.data() + from;
    std::copy_n(block, n, before.data());
    if (many && std::all_of(terms.begin(), terms.end(), [&](const Term& term) {
          return term.variance >= kLeastVariance && add_near_deviations(term, from, n, over_n, weight, block);
        }))
      continue;
    std::copy_n(before.data(), n, block);
    for (const Term& term : terms) add_deviations(term, from, n, over_n, weight, block);
  }
}

constexpr std::size_t kMostMoments = 8;

struct Slopes {
  std::array<const float*, kMostMoments> values;
  std::array<float, kMostMoments> slope;  // of each moment's utilisation
  std::size_t moments;
  const float* per_unit;
  float at_zero, own;
};

EVENKEEL_VECTOR_CLONES
void add_slopes(const Slopes& term, std::size_t n, float* costs) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    Floats16 sum = Floats16{} + term.at_zero, value, p, cost;
    for (std::size_t k = 0; k < term.moments; ++k) {
      load(value, term.values[k] + i);
      sum += value * term.slope[k];
    }
    load(p, term.per_unit + i);
    load(cost, costs + i);
    cost += p * (sum + p * term.own);
    std::memcpy(costs + i, &cost, sizeof(cost));
  }
  for (; i < n; ++i) {
    float sum = term.at_zero;
    for (std::size_t k = 0; k < term.moments; ++k) sum += term.values[k][i] * term.slope[k];
    costs[i] += term.per_unit[i] * (sum + term.per_unit[i] * term.own);
  }
}

}  // namespace

void add_imbalance_slopes(std::span<const Outlook> moments, const UtilizationField& per_unit,
                          const Usage& added, float weight, std::span<float> costs) {
  EVENKEEL_CHECK(moments.size() <= kMostMoments);
  double constant = 0;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    if (added.of[d] <= 0) continue;  // changes nothing, on whichever node
    Slopes term{{}, {}, moments.size(), per_unit[d].data(), 0, 0};
    double at_zero = 0, own = 0;
    for (std::size_t k = 0; k < moments.size(); ++k) {
      const Imbalance& before = moments[k].before;
      const double deviation = std::sqrt(std::max(before.variance[d], 1e-12));
      const double amount = added.of[d] * moments[k].share;
      const double slope = static_cast<double>(weight) * amount / (before.nodes * deviation);
      term.values[k] = moments[k].field[d].data();
      term.slope[k] = static_cast<float>(slope);
      at_zero -= slope * before.mean[d];
      own += slope * amount * (1 - 1 / before.nodes) / 2;
      constant += static_cast<double>(weight) * deviation;
    }
    term.at_zero = static_cast<float>(at_zero);
    term.own = static_cast<float>(own);
    add_slopes(term, costs.size(), costs.data());
  }
  for (float& cost : costs) cost += static_cast<float>(constant);
}

double Imbalance::value() const {
  double sum = 0;
  for (const double v : variance) sum += std::sqrt(v);
  return sum / kDimensions;
}

Imbalance imbalance_of(const UtilizationField& field, std::size_t nodes) {
  Imbalance result;
  result.nodes = static_cast<double>(nodes);
  if (nodes == 0) return result;
  const std::size_t columns = field.front().size();
  const auto absent = static_cast<double>(columns - nodes);
  std::array<Sums, kDimensions> all;
  for (std::size_t d = 0; d < kDimensions; d += kAbreast) centred_sums(&field[d], columns, &all[d]);
  for (std::size_t d = 0; d < kDimensions; ++d) {
    Sums& sums = all[d];
    // Absent nodes hold 0: take them out again.
    sums.sum += absent * kCentre;
    sums.squares -= absent * kCentre * kCentre;
    const double off = sums.sum / result.nodes;
    result.mean[d] = kCentre + off;
    result.variance[d] = std::max(0.0, sums.squares / result.nodes - off * off);
  }
  return result;
}

void add_imbalance_after(const UtilizationField& field, const UtilizationField& per_unit,
                         const Imbalance& before, const Usage& added, float weight, std::span<float> costs) {
  std::array<Term, kDimensions> terms;
  std::size_t count = 0;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    if (added.of[d] <= 0) continue;  // changes nothing, on whichever node
    terms[count++] = {field[d].data(), per_unit[d].data(), static_cast<float>(before.mean[d]),
                      static_cast<float>(before.variance[d]), static_cast<float>(added.of[d])};
  }
  add_deviations({terms.data(), count}, static_cast<float>(1.0 / before.nodes), weight, costs);
}

}  // namespace evenkeel::scheduling
