#include "prediction/forecast.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace evenkeel::prediction {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::array<std::string_view, RateForecast::kForecasters> kNames{
    "the last rate", "the last change", "the last minute", "the last minutes",
    "the trend",     "the time of day", "the time of week"};

constexpr double kQuick = 45, kSlow = 240, kLevel = 60, kTrend = 300;  // seconds a mean looks back
constexpr double kChange = 60;         // seconds that the last change is believed to go on for, at most
constexpr double kDamping = 240;       // seconds after which a trend is believed to have gone on for e^-1
constexpr double kUsual = 6 * 3600.0;  // what "usual" is taken over
constexpr double kErrorMemory = 160;   // rates an error is remembered for: forty minutes at 15 s
constexpr double kFirstError = 0.2;
constexpr double kMostError = 0.8;  // one spike counts for no more
constexpr double kSharpness = 6;    // how strongly the less wrong are preferred
constexpr double kNotable = 0.7;    // of a usual change
constexpr double kFloorShare = 0.02;

double pull(double elapsed, double over) { return 1 - std::exp(-elapsed / over); }

std::string spread_name(std::size_t horizon, std::size_t course) {
  return "spread " + std::to_string(horizon) + " " + std::to_string(course);
}

}  // namespace

double RateOutlook::quantile(double level) const {
  if (level <= kLevels.front()) return rates.front();
  for (std::size_t i = 1; i < kLevels.size(); ++i) {
    if (level > kLevels[i]) continue;
    const double part = (level - kLevels[i - 1]) / (kLevels[i] - kLevels[i - 1]);
    return rates[i - 1] + part * (rates[i] - rates[i - 1]);
  }
  return rates.back();
}

RateForecast::RateForecast(ForecastOptions options)
    : options_(options),
      seasons_{SeasonProfile{options.seasons[0], options.season_bins[0]},
               SeasonProfile{options.seasons[1], options.season_bins[1]}} {
  EVENKEEL_CHECK(options_.step > Duration{});
  for (Row& row : errors_) row.fill(static_cast<float>(kFirstError));
  kept_ = std::clamp<std::size_t>(static_cast<std::size_t>(horizons().back() / options_.step) + 2, 4, 64);
}

std::array<Duration, RateForecast::kHorizons> RateForecast::horizons() {
  return {seconds{15}, seconds{45}, seconds{90}, minutes{5}, minutes{10}};
}

std::size_t RateForecast::nearest(Duration horizon) {
  const auto all = horizons();
  std::size_t best = 0;
  for (std::size_t i = 1; i < all.size(); ++i)
    if (std::chrono::abs(all[i] - horizon) < std::chrono::abs(all[best] - horizon)) best = i;
  return best;
}

// Relative, and finite where a rate is zero: far below what is usual, differences mean little.
double RateForecast::log_error(double rate, double forecast) const {
  const double floor = std::max(kFloorShare * usual_, 1e-6);
  return std::log((rate + floor) / (forecast + floor));
}

RateForecast::Row RateForecast::forecasts(Duration horizon) const {
  const double ahead = to_seconds(horizon);
  const double gone_on = kDamping * (1 - std::exp(-ahead / kDamping));
  Row row{};
  row[0] = static_cast<float>(rate_);
  row[1] = static_cast<float>(std::max(0.0, rate_ + change_ * std::min(ahead, kChange)));
  row[2] = static_cast<float>(quick_);
  row[3] = static_cast<float>(slow_);
  row[4] = static_cast<float>(std::max(0.0, level_ + trend_ * gone_on));
  for (std::size_t s = 0; s < seasons_.size(); ++s) {
    const double ratio = seasons_[s].ratio(last_, last_ + horizon);
    row[5 + s] = ratio > 0 ? static_cast<float>(level_ * ratio) : -1.0F;
  }
  return row;
}

// Whether the last change was a large one, for this workload.
std::size_t RateForecast::course() const {
  if (std::abs(change_) <= kNotable * usual_change_) return 1;
  return change_ > 0 ? 2 : 0;
}

double RateForecast::mixture(const Row& row, std::size_t horizon) const {
  double sum = 0, weights = 0;
  for (std::size_t i = 0; i < kForecasters; ++i) {
    if (row[i] < 0) continue;
    const double weight = std::pow(std::max<double>(errors_[horizon][i], 1e-3), -kSharpness);
    sum += weight * row[i];
    weights += weight;
  }
  return sum / weights;
}

void RateForecast::verify(Time at, double rate) {
  const auto all = horizons();
  for (std::size_t h = 0; h < kHorizons; ++h) {
    const Said* about = nullptr;  // the one that spoke of this moment, give or take half a step
    for (const Said& said : said_) {
      const Duration off = std::chrono::abs(at - said.at - all[h]);
      if (off * 2 > options_.step) continue;
      if (!about || off < std::chrono::abs(at - about->at - all[h])) about = &said;
    }
    if (!about) continue;
    spreads_[h][about->course].observe(std::clamp(log_error(rate, about->mixed[h]), -3.0, 3.0));
    for (std::size_t i = 0; i < kForecasters; ++i) {
      if (about->each[h][i] < 0) continue;
      const double error = std::min(kMostError, std::abs(log_error(rate, about->each[h][i])));
      errors_[h][i] += static_cast<float>((error - errors_[h][i]) / kErrorMemory);
    }
  }
}

void RateForecast::learn_levels(Time at, double rate) {
  if (observed_ == 0) {
    rate_ = quick_ = slow_ = level_ = usual_ = rate;
  } else {
    // After a gap the means have nearly forgotten what was before it, and a trend over it says nothing.
    const double elapsed = to_seconds(at - last_);
    change_ = elapsed <= 4 * kLevel ? (rate - rate_) / elapsed : 0;
    usual_change_ += pull(elapsed, kUsual) * (std::abs(change_) - usual_change_);
    rate_ = rate;
    quick_ += pull(elapsed, kQuick) * (rate - quick_);
    slow_ += pull(elapsed, kSlow) * (rate - slow_);
    usual_ += pull(elapsed, kUsual) * (rate - usual_);
    const double expected = level_ + trend_ * elapsed, before = level_;
    level_ = std::max(0.0, expected + pull(elapsed, kLevel) * (rate - expected));
    trend_ += pull(elapsed, kTrend) * ((level_ - before) / elapsed - trend_);
    if (elapsed > 4 * kLevel) {
      trend_ = 0;
      level_ = rate;
    }
  }
  for (SeasonProfile& season : seasons_) season.observe(at, rate);
  last_ = at;
  ++observed_;
}

void RateForecast::observe(Time at, double rate) {
  if (!(rate >= 0 && rate <= kMostRate) || (observed_ > 0 && at <= last_)) return;
  verify(at, rate);
  learn_levels(at, rate);
  Said said;
  said.at = at;
  said.course = course();
  const auto all = horizons();
  for (std::size_t h = 0; h < kHorizons; ++h) {
    said.each[h] = forecasts(all[h]);
    said.mixed[h] = static_cast<float>(mixture(said.each[h], h));
  }
  if (said_.size() < kept_) {
    said_.push_back(said);
  } else {
    said_[oldest_] = said;
    oldest_ = (oldest_ + 1) % said_.size();
  }
}

RateOutlook RateForecast::ahead(Duration horizon) const {
  EVENKEEL_CHECK(known());
  const auto all = horizons();
  // Errors grow with the horizon: between two that are kept, in proportion; beyond the last, as its root.
  std::size_t low = 0;
  while (low + 2 < kHorizons && horizon >= all[low + 1]) ++low;
  const double part =
      std::clamp(to_seconds(horizon - all[low]) / to_seconds(all[low + 1] - all[low]), 0.0, 1.0);
  const double beyond = horizon > all.back() ? std::sqrt(to_seconds(horizon) / to_seconds(all.back())) : 1;
  const double middle = mixture(forecasts(horizon), nearest(horizon));
  const double floor = std::max(kFloorShare * usual_, 1e-6);
  const std::size_t now = course();
  RateOutlook outlook;
  for (std::size_t i = 0; i < outlook.rates.size(); ++i) {
    const double level = RateOutlook::kLevels[i];
    const double error =
        spreads_[low][now].quantile(level) * (1 - part) + spreads_[low + 1][now].quantile(level) * part;
    outlook.rates[i] = std::max(0.0, (middle + floor) * std::exp(error * beyond) - floor);
  }
  return outlook;
}

std::string_view RateForecast::leading(Duration horizon) const {
  const std::size_t h = nearest(horizon);
  const Row row = forecasts(horizon);
  std::size_t best = 0;
  for (std::size_t i = 1; i < kForecasters; ++i)
    if (row[i] >= 0 && errors_[h][i] < errors_[h][best]) best = i;
  return kNames[best];
}

double RateForecast::recent_error(Duration horizon) const {
  return spreads_[nearest(horizon)][course()].recent();
}

learning::SavedState RateForecast::save() const {
  learning::SavedState state;
  state.put("observed", observed_);
  state.put("last us", static_cast<std::uint64_t>(last_.time_since_epoch().count()));
  const std::array<learning::Real, 8> levels{rate_,  change_, quick_, slow_,
                                             level_, trend_,  usual_, usual_change_};
  state.put("levels", levels);
  state.put_text("kind", "request rate");
  for (std::size_t h = 0; h < kHorizons; ++h) {
    const std::vector<learning::Real> errors(errors_[h].begin(), errors_[h].end());
    state.put("errors " + std::to_string(h), errors);
    for (std::size_t c = 0; c < kCourses; ++c) spreads_[h][c].save(state, spread_name(h, c));
  }
  for (std::size_t s = 0; s < seasons_.size(); ++s) seasons_[s].save(state, "season " + std::to_string(s));
  return state;
}

Status RateForecast::restore(learning::SavedState state) {
  RateForecast restored(options_);
  restored.observed_ = state.count("observed");
  restored.last_ = Time(Duration(static_cast<std::int64_t>(state.count("last us"))));
  std::array<learning::Real, 8> levels{};
  state.reals("levels", levels);
  for (const learning::Real level : levels)
    if (!std::isfinite(level)) state.fail("levels", "finite numbers");
  restored.rate_ = levels[0], restored.change_ = levels[1], restored.quick_ = levels[2];
  restored.slow_ = levels[3], restored.level_ = levels[4], restored.trend_ = levels[5];
  restored.usual_ = levels[6], restored.usual_change_ = levels[7];
  for (std::size_t h = 0; h < kHorizons; ++h) {
    std::array<learning::Real, kForecasters> errors{};
    state.reals("errors " + std::to_string(h), errors);
    for (std::size_t i = 0; i < kForecasters; ++i) {
      if (!(errors[i] >= 0 && errors[i] <= kMostError))
        state.fail("errors " + std::to_string(h), "numbers of 0 to " + std::to_string(kMostError));
      restored.errors_[h][i] = static_cast<float>(errors[i]);
    }
    for (std::size_t c = 0; c < kCourses; ++c) restored.spreads_[h][c].restore(state, spread_name(h, c));
  }
  for (std::size_t s = 0; s < seasons_.size(); ++s)
    restored.seasons_[s].restore(state, "season " + std::to_string(s));
  if (!state.status()) return state.status();
  *this = std::move(restored);
  return {};
}

}  // namespace evenkeel::prediction
