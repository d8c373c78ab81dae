#include "autoscaling/policies/evenkeel_need.h"

#include <algorithm>

namespace evenkeel::autoscaling {
namespace {

constexpr double kNoiseMargin = 0.7, kMostMargin = 0.185;
// Above its level a rate is to be served by so much: small jumps are mostly within what pods come in.
constexpr double kBurstReserve = 1.5, kManyBurstsReserve = 7;  // times the bursts, and their square
constexpr double kSure = 0.3;  // a chance of a violation by the curve that still counts as keeping the level

// The fewest of 1 … most for which `enough` holds, given that more always are enough as well.
template <class Enough>
std::int32_t fewest(std::int32_t most, const Enough& enough) {
  std::int32_t low = 1, high = most;
  while (low < high) {
    const std::int32_t middle = low + (high - low) / 2;
    if (enough(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace

double LevelModel::chance(double requests_per_s, std::int32_t pods) const {
  const double capacity = per_pod * pods;
  return curve.chance_above({(requests_per_s + backlog_per_s) / capacity, static_cast<double>(pods), per_pod},
                            bound_s);
}

std::int32_t LevelModel::least(double requests_per_s) const {
  return fewest(most, [&](std::int32_t pods) { return chance(requests_per_s, pods) <= kSure; });
}

double rate_to_serve(const RateSeen& seen, std::size_t margin, std::size_t reserve) {
  const double higher = std::min(kMostMargin, kMargins[margin] + kNoiseMargin * seen.noise);
  const double jumps = kBurstReserve * seen.bursts + kManyBurstsReserve * seen.bursts * seen.bursts;
  return std::max(seen.rate * (1 + higher), seen.level * (1 + kReserves[reserve] * jumps));
}

Needs needs_of(const LevelModel& model, const RateSeen& seen) {
  Needs needs;
  for (std::size_t margin = 0; margin < kMargins.size(); ++margin)
    for (std::size_t reserve = 0; reserve < kReserves.size(); ++reserve) {
      const double rate = rate_to_serve(seen, margin, reserve);
      needs.now[margin][reserve] = model.least(rate);
      for (std::size_t band = 0; band < kBands.size(); ++band)
        needs.keep[band][margin][reserve] = model.least(rate * (1 + kBands[band]));
    }
  return needs;
}

}  // namespace evenkeel::autoscaling
