#include "prediction/forecast_season.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace evenkeel::prediction {
namespace {

constexpr double kLearn = 0.4;         // of what a visit differs by
constexpr double kLearnSpread = 0.02;  // a bin's worth of surprise counts as one in fifty
constexpr double kFirstSpread = 0.3;
constexpr double kOutlier = 2;    // spreads a visit may differ by and still count in full
constexpr double kMostRatio = 4;  // of two times of day: more is not believed

}  // namespace

SeasonProfile::SeasonProfile(Duration period, Duration bin)
    : period_(period),
      bin_(bin),
      levels_(static_cast<std::size_t>(period / bin), -1.0F),
      spread_(kFirstSpread) {
  EVENKEEL_CHECK(bin > Duration{} && period % bin == Duration{});
}

std::size_t SeasonProfile::bin_at(Time at) const {
  Duration phase = at.time_since_epoch() % period_;
  if (phase < Duration{}) phase += period_;
  return static_cast<std::size_t>(phase / bin_);
}

void SeasonProfile::close_visit() {
  if (visit_count_ <= 0) return;
  const double mean = visit_sum_ / visit_count_;
  float& level = levels_[visited_];
  if (level < 0) {
    level = static_cast<float>(mean);
  } else {
    const double scale = std::max<double>(level, 1e-9);
    const double off = (mean - level) / scale, limit = kOutlier * spread_;
    const double believed = std::clamp(off, -limit, limit);
    level = static_cast<float>(std::max(0.0, level + kLearn * believed * scale));
    spread_ += kLearnSpread * (std::abs(believed) - spread_);
    spread_ = std::max(spread_, 0.02);
  }
  visit_sum_ = visit_count_ = 0;
}

void SeasonProfile::observe(Time at, double rate) {
  const std::size_t bin = bin_at(at);
  // A gap may end in the same bin a round later: that is another visit.
  if (bin != visited_ || at - visit_began_ >= bin_ || at < visit_began_) {
    close_visit();
    visited_ = bin;
    visit_began_ = at;
  }
  visit_sum_ += rate;
  visit_count_ += 1;
}

double SeasonProfile::ratio(Time now, Time then) const {
  const double from = levels_[bin_at(now)], to = levels_[bin_at(then)];
  if (from < 0 || to < 0 || (from <= 0 && to <= 0)) return 0;
  return std::clamp(to / std::max(from, to / kMostRatio), 1 / kMostRatio, kMostRatio);
}

std::size_t SeasonProfile::bins_known() const {
  return static_cast<std::size_t>(
      std::count_if(levels_.begin(), levels_.end(), [](float level) { return level >= 0; }));
}

void SeasonProfile::save(learning::SavedState& state, const std::string& name) const {
  std::vector<learning::Real> values(levels_.begin(), levels_.end());
  values.push_back(spread_);
  state.put(name, values);
}

void SeasonProfile::restore(learning::SavedState& state, const std::string& name) {
  std::vector<learning::Real> values(levels_.size() + 1);
  state.reals(name, values);
  for (const learning::Real value : values)
    if (!std::isfinite(value)) return state.fail(name, "finite numbers");
  std::transform(values.begin(), values.end() - 1, levels_.begin(),
                 [](learning::Real value) { return static_cast<float>(value); });
  spread_ = std::clamp(values.back(), 0.02, 10.0);
  visit_sum_ = visit_count_ = 0;
}

}  // namespace evenkeel::prediction
