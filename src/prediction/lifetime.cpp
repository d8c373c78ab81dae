#include "prediction/lifetime.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace evenkeel::prediction {
namespace {

constexpr double kLeastSpread = 0.03;  // contention alone makes run times vary this much
constexpr double kFirstSpread = 0.5;   // after a single end

double log_request(double cpu_request) { return std::log(std::max(cpu_request, 0.001)); }

// The chance that a standard normal exceeds z, from a table: within 2e-6, and a tenth of
// erfc's time, which is what a decision over many pods is made of.
double upper_tail(double z) {
  constexpr double kReach = 6, kStep = 1.0 / 128;
  constexpr auto kEntries = static_cast<std::size_t>(2 * kReach / kStep) + 2;
  static const std::array<double, kEntries> kTable = [] {
    std::array<double, kEntries> table{};
    for (std::size_t i = 0; i < kEntries; ++i)
      table[i] = 0.5 * std::erfc((static_cast<double>(i) * kStep - kReach) * 0.7071067811865476);
    return table;
  }();
  if (z <= -kReach) return 1;
  if (z >= kReach) return 0;
  const double at = (z + kReach) / kStep;
  const auto i = static_cast<std::size_t>(at);
  return kTable[i] + (at - static_cast<double>(i)) * (kTable[i + 1] - kTable[i]);
}

}  // namespace

double Lifetime::median_s() const { return std::exp(log_median); }

double Lifetime::survival(double age_s, double ahead_s) const {
  double chance = 1;
  survival(age_s, {&ahead_s, 1}, {&chance, 1});
  return chance;
}

void Lifetime::survival(double age_s, std::span<const double> ahead_s, std::span<double> chances) const {
  if (endless) {
    std::fill(chances.begin(), chances.end(), 1.0);
    return;
  }
  const double per_spread = 1 / log_spread;
  const auto beyond = [&](double t) {
    return t <= 0 ? 1.0 : upper_tail((std::log(t) - log_median) * per_spread);
  };
  const double so_far = beyond(age_s);
  for (std::size_t i = 0; i < ahead_s.size(); ++i) {
    // It may have outlived everything seen before. What is left is then taken to be of the
    // order of its age's excess, instead of nought over nought.
    chances[i] = so_far < 1e-5 ? std::exp(-ahead_s[i] / std::max(1.0, log_spread * age_s))
                               : beyond(age_s + ahead_s[i]) / so_far;
  }
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
  return {log_life_.predict(log_request(cpu_request)), std::max(spread, kLeastSpread), false};
}

}  // namespace evenkeel::prediction
