#include "prediction/forecast_spread.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace evenkeel::prediction {
namespace {

constexpr double kWidest = 6;  // recent sizes; beyond counts in the outermost bin
constexpr double kBinWidth = 2 * kWidest / ErrorSpread::kBins;
constexpr double kFirstSize = 0.06;  // before anything is known
constexpr double kLeastSize = 0.003;
constexpr double kRemember = 2000;  // errors, about eight hours at one in 15 s
constexpr double kRecent = 120;     // half an hour
constexpr double kPrior = 8;        // errors that the first guess at their shape counts for
constexpr double kOutlier = 3;      // recent sizes one error may add to them

// Laplace's distribution, whose mean size is one: the shape until errors show their own.
double prior_below(double z) { return z < 0 ? 0.5 * std::exp(z) : 1 - 0.5 * std::exp(-z); }

}  // namespace

ErrorSpread::ErrorSpread() : recent_(kFirstSize) {
  for (std::size_t i = 0; i < kBins; ++i) {
    const double low = -kWidest + kBinWidth * static_cast<double>(i);
    counts_[i] = static_cast<float>(kPrior * (prior_below(low + kBinWidth) - prior_below(low)));
  }
}

void ErrorSpread::observe(double error) {
  if (!std::isfinite(error)) return;
  const double z = std::clamp(error / recent_, -kWidest + 1e-9, kWidest - 1e-9);
  for (float& count : counts_) count *= static_cast<float>(1 - 1 / kRemember);
  counts_[static_cast<std::size_t>((z + kWidest) / kBinWidth)] += 1;
  weight_ += 1 - weight_ / kRemember;
  // Learns quickly while it knows little.
  const double pace = 1 / std::min(kRecent, weight_ + 4);
  recent_ += pace * (std::min(std::abs(error), kOutlier * recent_) - recent_);
  recent_ = std::max(recent_, kLeastSize);
}

double ErrorSpread::quantile(double level) const {
  const double all = std::accumulate(counts_.begin(), counts_.end(), 0.0);
  double left = std::clamp(level, 0.0, 1.0) * all;
  for (std::size_t i = 0; i < kBins; ++i) {
    if (left > counts_[i] && i + 1 < kBins) {
      left -= counts_[i];
      continue;
    }
    const double part = counts_[i] > 0 ? std::min(1.0, left / counts_[i]) : 0.5;
    return recent_ * (-kWidest + kBinWidth * (static_cast<double>(i) + part));
  }
  return recent_ * kWidest;
}

void ErrorSpread::save(learning::SavedState& state, const std::string& name) const {
  std::vector<learning::Real> values(counts_.begin(), counts_.end());
  values.push_back(recent_);
  values.push_back(weight_);
  state.put(name, values);
}

void ErrorSpread::restore(learning::SavedState& state, const std::string& name) {
  std::array<learning::Real, kBins + 2> values{};
  state.reals(name, values);
  for (const learning::Real value : values)
    if (!std::isfinite(value) || value < 0) return state.fail(name, "finite numbers that are not negative");
  if (!state.status()) return;
  std::transform(values.begin(), values.begin() + kBins, counts_.begin(),
                 [](learning::Real value) { return static_cast<float>(value); });
  recent_ = std::max(values[kBins], kLeastSize);
  weight_ = values[kBins + 1];
}

}  // namespace evenkeel::prediction
