#include "optimum/plan_problem.h"

#include <algorithm>

namespace evenkeel::optimum {

const Usage& PlanPod::demand_at(double at_s, double step_s) const {
  static const Usage kNothing;
  if (!series.empty())
    return series[std::min(static_cast<std::size_t>(std::max(0.0, at_s) / step_s), series.size() - 1)];
  if (phases.empty()) return kNothing;
  double until = start_s;
  for (const PlanPhase& phase : phases) {
    until += phase.seconds;
    if (at_s < until) return phase.demand;
  }
  return phases.back().demand;
}

}  // namespace evenkeel::optimum
