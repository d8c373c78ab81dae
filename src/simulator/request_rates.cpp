#include "simulator/request_rates.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::simulator {

double RequestRates::value(const std::vector<float>& values, Duration when, double none) const {
  if (values.empty()) return none;
  const auto last = static_cast<double>(values.size() - 1);
  const double position = static_cast<double>(when.count()) / static_cast<double>(step.count());
  if (!interpolate) return values[static_cast<std::size_t>(std::clamp(std::floor(position), 0.0, last))];
  const double between = std::clamp(position - 0.5, 0.0, last);
  const auto left = static_cast<std::size_t>(between);
  const std::size_t right = std::min(left + 1, values.size() - 1);
  const double part = between - static_cast<double>(left);
  return (1 - part) * values[left] + part * values[right];
}

}  // namespace evenkeel::simulator
