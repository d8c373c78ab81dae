#pragma once
#include <array>
#include <cstdint>

#include "autoscaling/policies/evenkeel_curve.h"
#include "prediction/forecast.h"

namespace evenkeel::autoscaling {

// The service level as a question about a number of pods.
struct LevelModel {
  const ResponseCurve& curve;
  double per_pod = 1;  // requests/s
  double bound_s = 0.25;
  double backlog_per_s = 0;  // work left over, as a rate on top of what arrives
  std::int32_t most = 1;

  // The chance that the percentile is above the bound, over all the rates there may be.
  double chance(const prediction::RateOutlook& outlook, std::int32_t pods, double factor = 1) const;
  double chance(double requests_per_s, std::int32_t pods) const;
  // The fewest pods whose chance is at most `risk`; `most` where none is.
  std::int32_t least(const prediction::RateOutlook& outlook, double risk, double factor = 1) const;
};

// Chances of a violation that may be accepted, from timid to bold: what is learnt is which.
inline constexpr std::array<double, 8> kRisks{0.03, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3, 0.4};
// By how much a rate must lie below what fewer pods could serve before they are thought to do: less of it
// makes for fewer replicas, more of it for fewer scalings.
inline constexpr std::array<double, 5> kBands{0, 0.025, 0.05, 0.1, 0.2};

// What every one of them would need.
struct Needs {
  using ByRisk = std::array<std::int32_t, kRisks.size()>;
  ByRisk ahead{};                            // once something ordered now could help
  std::array<ByRisk, kBands.size()> keep{};  // until then as well, were rates higher by a band
};
struct Outlooks {
  prediction::RateOutlook soon, ahead;
};
Needs needs_of(const LevelModel& model, const Outlooks& outlooks);

}  // namespace evenkeel::autoscaling
