#pragma once
#include <algorithm>
#include <cmath>
#include <span>

#include "learning/real.h"

namespace evenkeel::learning {

// For tests: the largest relative difference between a gradient and central differences of the loss it is
// said to belong to. Slopes below `floor` are compared in absolute terms.
template <class Loss>
Real gradient_error(std::span<Real> parameters, std::span<const Real> gradient, Loss loss,
                    Real floor = 1e-3) {
  constexpr Real kStep = 1e-6;
  Real worst = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Real kept = parameters[i];
    parameters[i] = kept + kStep;
    const Real above = loss();
    parameters[i] = kept - kStep;
    const Real below = loss();
    parameters[i] = kept;
    const Real slope = (above - below) / (2 * kStep);
    const Real size = std::max({std::abs(slope), std::abs(gradient[i]), floor});
    worst = std::max(worst, std::abs(slope - gradient[i]) / size);
  }
  return worst;
}

}  // namespace evenkeel::learning
