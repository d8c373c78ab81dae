#include "simulator/service_histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace evenkeel::simulator {

const std::array<double, ServiceHistogram::kBounds>& ServiceHistogram::bounds() {
  static const std::array<double, kBounds> kValues = [] {
    std::array<double, kBounds> values{};
    double bound = 0.001;
    for (double& value : values) {
      value = bound;
      bound *= 1.17;
    }
    return values;
  }();
  return kValues;
}

void ServiceHistogram::add(double response_s, double count) {
  const auto at = std::lower_bound(bounds().begin(), bounds().end(), response_s);
  counts_[static_cast<std::size_t>(at - bounds().begin())] += count;
}

ServiceHistogram ServiceHistogram::since(const ServiceHistogram& earlier) const {
  ServiceHistogram difference;
  for (std::size_t i = 0; i <= kBounds; ++i) difference.counts_[i] = counts_[i] - earlier.counts_[i];
  return difference;
}

double ServiceHistogram::count() const { return std::accumulate(counts_.begin(), counts_.end(), 0.0); }

double ServiceHistogram::quantile(double q) const {
  const double wanted = q * count();
  if (!(wanted > 0)) return std::numeric_limits<double>::quiet_NaN();
  double below = 0;
  for (std::size_t i = 0; i < kBounds; ++i) {
    if (below + counts_[i] < wanted || counts_[i] <= 0) {
      below += counts_[i];
      continue;
    }
    const double low = i == 0 ? 0 : bounds()[i - 1];
    return low + (bounds()[i] - low) * (wanted - below) / counts_[i];
  }
  return bounds().back();
}

}  // namespace evenkeel::simulator
