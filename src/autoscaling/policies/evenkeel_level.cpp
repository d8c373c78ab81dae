#include "autoscaling/policies/evenkeel_level.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "prediction/forecast.h"

namespace evenkeel::autoscaling {
namespace {

constexpr double kLevelOver = 1200, kNoiseOver = 5000;  // seconds that are looked back on
constexpr Duration kApart = std::chrono::seconds{60};
constexpr Duration kSlack = std::chrono::seconds{25};  // by which two rates may be more than a minute apart
constexpr double kMostChange = 1;                      // an outage or a crowd counts for no more

// A mean of all there was until that is longer than is looked back on; from then on it forgets.
void average(double value, double elapsed, double look_back, double& mean, double& over) {
  over = std::min(look_back, over + elapsed);
  mean += std::min(1.0, elapsed / over) * (value - mean);
}

}  // namespace

// What comes and goes differs from what it was before by twice its variance.
void RateLevel::Jumps::observe(double before, double now, double elapsed) {
  const double change = std::min(kMostChange, std::abs(now / before - 1));
  average(change * change / 2, elapsed, kNoiseOver, square, over);
}

double RateLevel::Jumps::size() const { return std::sqrt(square); }

void RateLevel::observe(Time at, double rate) {
  if (!(rate >= 0 && rate <= prediction::kMostRate) || (!minute_.empty() && at <= minute_.back().first))
    return;
  const bool gap = !minute_.empty() && at - minute_.back().first > kApart + kSlack;
  if (minute_.empty() || gap) {
    if (gap) level_over_ = 0;  // nobody knows what was in between
    minute_.assign(1, {at, rate});
    return;
  }
  const double elapsed = to_seconds(at - minute_.back().first);
  average(rate, elapsed, kLevelOver, level_, level_over_);
  const double least = std::max(1e-3 * level_, 1e-6);
  if (elapsed <= to_seconds(kApart) / 2)
    reports_.observe(std::max(minute_.back().second, least), rate, elapsed);
  minute_.emplace_back(at, rate);
  // The youngest that is a minute old; those before it are not asked for again.
  auto old = minute_.begin();
  while (old + 1 != minute_.end() && at - (old + 1)->first >= kApart) ++old;
  minute_.erase(minute_.begin(), old);
  if (at - minute_.front().first >= kApart)
    minutes_.observe(std::max(minute_.front().second, least), rate, elapsed);
}

void RateLevel::save(learning::SavedState& state, const std::string& name) const {
  const std::array<learning::Real, 6> values{level_,        level_over_,     minutes_.square,
                                             minutes_.over, reports_.square, reports_.over};
  state.put(name, values);
}

void RateLevel::restore(learning::SavedState& state, const std::string& name) {
  std::array<learning::Real, 6> values{};
  state.reals(name, values);
  for (const learning::Real value : values)
    if (!std::isfinite(value) || value < 0) return state.fail(name, "finite numbers that are not negative");
  level_ = values[0], level_over_ = values[1];
  minutes_ = {std::min(values[2], kMostChange), values[3]};
  reports_ = {std::min(values[4], kMostChange), values[5]};
  minute_.clear();
}

}  // namespace evenkeel::autoscaling
