#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "learning/saved_state.h"
#include "prediction/forecast_season.h"
#include "prediction/forecast_spread.h"

namespace evenkeel::prediction {

inline constexpr double kMostRate = 1e9;  // requests/s: beyond, somebody lies

// What a rate may be at a time to come.
struct RateOutlook {
  // As good a spread as eleven numbers give: the middles of classes of these shares.
  static constexpr std::array<double, 11> kLevels{0.01, 0.05, 0.1, 0.2,  0.35, 0.5,
                                                  0.65, 0.8,  0.9, 0.95, 0.99};
  static constexpr std::array<double, 11> kShares{0.03, 0.045, 0.075, 0.125, 0.15, 0.15,
                                                  0.15, 0.125, 0.075, 0.045, 0.03};
  std::array<double, 11> rates{};

  double median() const { return rates[5]; }
  double quantile(double level) const;  // between the levels; beyond them, the outermost
};

struct ForecastOptions {
  Duration step{std::chrono::seconds{15}};  // about as often as rates come in
  std::array<Duration, 2> seasons{std::chrono::hours{24}, std::chrono::hours{24 * 7}};
  std::array<Duration, 2> season_bins{std::chrono::minutes{5}, std::chrono::minutes{15}};
};

// A causal forecast of one request rate, seconds to minutes ahead. Seven simple forecasters (the last value,
// the last change going on, two running means, a damped trend, the day's shape, the week's shape) are
// weighted by how wrong each has been lately, at each horizon by itself; how wrong the mixture was, after
// rates that rose, fell or did neither, gives the quantiles. Where a season has not been seen once its
// forecaster is silent and the others speak. About 16 KB, whatever the length of the past.
class RateForecast {
 public:
  static constexpr std::size_t kForecasters = 7;
  static constexpr std::size_t kHorizons = 5;
  static constexpr std::size_t kCourses = 3;  // falling, neither, rising

  explicit RateForecast(ForecastOptions options = {});

  // A rate as measured around `at`. Not a number, negative, absurd, or not later than the last: left out.
  void observe(Time at, double rate);

  bool known() const { return observed_ > 0; }
  RateOutlook ahead(Duration horizon) const;  // from the last rate observed; known() must hold

  // Who is listened to at a horizon, and how far off the mixture has been there (relative), for explanations.
  std::string_view leading(Duration horizon) const;
  double recent_error(Duration horizon) const;
  std::uint64_t observed() const { return observed_; }

  learning::SavedState save() const;
  Status restore(learning::SavedState state);

 private:
  using Row = std::array<float, kForecasters>;
  // What was said at one time about the horizons ahead; negative: silent.
  struct Said {
    Time at{};
    std::array<Row, kHorizons> each{};
    std::array<float, kHorizons> mixed{};
    std::size_t course = 1;
  };

  static std::array<Duration, kHorizons> horizons();
  static std::size_t nearest(Duration horizon);
  void verify(Time at, double rate);
  void learn_levels(Time at, double rate);
  Row forecasts(Duration horizon) const;
  std::size_t course() const;
  double mixture(const Row& row, std::size_t horizon) const;
  double log_error(double rate, double forecast) const;

  ForecastOptions options_;
  Time last_{};
  std::uint64_t observed_ = 0;
  double rate_ = 0, change_ = 0, quick_ = 0, slow_ = 0, level_ = 0, trend_ = 0, usual_ = 0, usual_change_ = 0;
  std::array<SeasonProfile, 2> seasons_;
  std::array<Row, kHorizons> errors_{};  // mean size of each forecaster's, lately
  std::array<std::array<ErrorSpread, kCourses>, kHorizons> spreads_;
  std::vector<Said> said_;  // a ring, as long as the furthest horizon
  std::size_t kept_, oldest_ = 0;
};

}  // namespace evenkeel::prediction
