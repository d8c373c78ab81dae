#pragma once
#include <array>
#include <cstdint>

#include "autoscaling/policies/evenkeel_curve.h"

namespace evenkeel::autoscaling {

// The service level as a question about a number of pods.
struct LevelModel {
  const ResponseCurve& curve;
  double per_pod = 1;  // requests/s
  double bound_s = 0.25;
  double backlog_per_s = 0;  // work left over, as a rate on top of what arrives
  std::int32_t most = 1;

  // The chance that the percentile is above the bound.
  double chance(double requests_per_s, std::int32_t pods) const;
  // The fewest pods that keep it, as far as the curve can tell; `most` where none do.
  std::int32_t least(double requests_per_s) const;
};

// What pods are asked for beyond what the present rate needs, from bold to timid: what is
// learnt is which. The first two grow with a rate's own noise.
//   kMargins: the rate may be higher by this (and kNoiseMargin of the noise) once pods could help;
//   kReserves: so many times its usual jumps above its level it may be at any time;
//   kBands: by this it must lie below what fewer pods could serve before they are thought to do: less makes
//   for fewer replicas, more for fewer scalings.
inline constexpr std::array<double, 4> kMargins{0, 0.015, 0.03, 0.06};
inline constexpr std::array<double, 3> kReserves{0.7, 1, 1.4};
inline constexpr std::array<double, 2> kBands{0.03, 0.07};

struct RateSeen {
  double rate = 0;   // the present one, or what is forecast for when pods could help if that is more
  double level = 0;  // over the last minutes
  double noise = 0, bursts = 0;  // shares: evenkeel_level.h
};
double rate_to_serve(const RateSeen& seen, std::size_t margin, std::size_t reserve);

// What each of them would need.
struct Needs {
  using ByReserve = std::array<std::int32_t, kReserves.size()>;
  using ByMargin = std::array<ByReserve, kMargins.size()>;
  ByMargin now{};                              // to be ordered if there are fewer
  std::array<ByMargin, kBands.size()> keep{};  // to be kept if there are more
};
Needs needs_of(const LevelModel& model, const RateSeen& seen);

}  // namespace evenkeel::autoscaling
