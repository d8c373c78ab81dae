#include "prediction/lifetime.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::prediction {
namespace {

constexpr double kLeastSpread = 0.03;  // contention alone makes run times vary this much
constexpr double kFirstSpread = 0.5;   // after a single end

double log_request(double cpu_request) { return std::log(std::max(cpu_request, 0.001)); }

double upper_tail(double z) { return 0.5 * std::erfc(z * 0.7071067811865476); }

}  // namespace

double Lifetime::survival(double age_s, double ahead_s) const {
  if (endless) return 1;
  if (ahead_s <= 0) return 1;
  const double log_median = std::log(median_s);
  const auto beyond = [&](double t) {
    return t <= 0 ? 1.0 : upper_tail((std::log(t) - log_median) / log_spread);
  };
  const double so_far = beyond(age_s);
  // It has outlived everything seen before. What is left is then taken to be of the
  // order of its age's excess, instead of nought over nought.
  if (so_far < 1e-6) return std::exp(-ahead_s / std::max(1.0, log_spread * age_s));
  return beyond(age_s + ahead_s) / so_far;
}

double Lifetime::expected_remaining_s(double age_s) const {
  if (endless) return 1e9;
  // The median of what is left, found by halving: survival is monotone.
  double low = 0, high = std::max(median_s, age_s) * 16 + 1;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (survival(age_s, middle) > 0.5 ? low : high) = middle;
  }
  return low;
}

void LifetimeHistory::add(double cpu_request, double ran_s) {
  ++ends_;
  log_life_.add(log_request(cpu_request), std::log(std::max(ran_s, 1e-3)));
}

Lifetime LifetimeHistory::predict(double cpu_request) const {
  if (ends_ == 0) return {};
  const double n = static_cast<double>(ends_);
  const double variance = log_life_.residual_variance();
  const double spread = std::sqrt(variance + kFirstSpread * kFirstSpread / (n * n));
  return {std::exp(log_life_.predict(log_request(cpu_request))), std::max(spread, kLeastSpread), false};
}

}  // namespace evenkeel::prediction
