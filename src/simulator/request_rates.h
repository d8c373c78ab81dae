#pragma once
#include <cstddef>
#include <vector>

#include "base/time.h"

namespace evenkeel::simulator {

// How many requests arrive, over time: a mean rate per step, and what one of them costs.
struct RequestRates {
  Duration step{std::chrono::minutes{1}};
  std::vector<float> per_s;
  std::vector<float> work;  // of a request, 1: the usual; empty: always the usual
  bool interpolate = true;  // between the middles of steps; else stepwise

  Duration length() const { return step * static_cast<Duration::rep>(per_s.size()); }
  double at(Duration when) const { return value(per_s, when, 0); }
  double work_at(Duration when) const { return value(work, when, 1); }

 private:
  double value(const std::vector<float>& values, Duration when, double none) const;
};

}  // namespace evenkeel::simulator
