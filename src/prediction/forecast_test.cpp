#include "prediction/forecast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "base/random.h"

namespace evenkeel::prediction {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

using Rate = std::function<double(double hour)>;

double day(double hour) { return 100 + 60 * std::sin(2 * std::numbers::pi * hour / 24); }

// Lets the forecast see a rate every 15 s from one hour to another.
void show(RateForecast& forecast, double from_hour, double to_hour, const Rate& rate, double noise = 0.02,
          std::uint64_t seed = 1) {
  Random random(seed);
  for (auto at = from_seconds(3600 * from_hour); at < from_seconds(3600 * to_hour); at += seconds{15})
    forecast.observe(Time(at), rate(to_seconds(at) / 3600) * (1 + noise * random.normal()));
}

double relative_error(double found, double expected) { return std::abs(found - expected) / expected; }

TEST(RateForecast, SaysTheLastRateWhenItHasSeenNothingElse) {
  RateForecast forecast;
  EXPECT_FALSE(forecast.known());
  forecast.observe(Time(seconds{10}), 42);
  ASSERT_TRUE(forecast.known());
  EXPECT_NEAR(forecast.ahead(minutes{1}).median(), 42, 2);
  EXPECT_GT(forecast.ahead(minutes{1}).quantile(0.95), 42);
}

TEST(RateForecast, WorksFromTheFirstMinuteThroughLessThanTwoSeasons) {
  RateForecast forecast;
  for (double hour = 0; hour < 40; hour += 0.5) {
    show(forecast, hour, hour + 0.5, day);
    const RateOutlook outlook = forecast.ahead(minutes{2});
    EXPECT_LT(relative_error(outlook.median(), day(hour + 0.5)), 0.15) << "after " << hour << " hours";
    for (std::size_t i = 1; i < outlook.rates.size(); ++i) EXPECT_LE(outlook.rates[i - 1], outlook.rates[i]);
  }
}

TEST(RateForecast, FollowsARampThatGoesOn) {
  RateForecast forecast;
  const Rate ramp = [](double hour) { return 50 + 240 * hour; };  // four more every minute
  show(forecast, 0, 0.5, ramp, 0);
  EXPECT_LT(relative_error(forecast.ahead(seconds{45}).median(), ramp(0.5 + 45 / 3600.0)), 0.03);
}

TEST(RateForecast, KnowsTheTimeOfDayOnceItHasSeenADay) {
  // Every day at noon it doubles, for six hours.
  const Rate noon = [](double hour) {
    const double past = std::fmod(hour, 24.0) - 12;
    return past < 0 || past >= 6 ? 100.0 : 200.0;
  };
  RateForecast beginner, learned;
  show(beginner, 11, 11.95, noon);
  show(learned, 0, 11.95 + 24.0 * 5, noon);
  EXPECT_NEAR(beginner.ahead(minutes{5}).median(), 100, 6);
  EXPECT_GT(learned.ahead(minutes{5}).median(), 115);
}

TEST(RateForecast, QuantilesHoldWhatTheyPromise) {
  RateForecast forecast;
  Random random(3);
  std::size_t above_p90 = 0, above_median = 0, all = 0;
  std::vector<RateOutlook> said;
  for (int i = 0; i < 6000; ++i) {
    const double rate = 100 * std::exp(0.1 * random.normal());
    if (i > 1000) {
      const RateOutlook& about = said[said.size() - 3];  // 45 s ago
      above_p90 += rate > about.quantile(0.9);
      above_median += rate > about.median();
      ++all;
    }
    forecast.observe(Time(seconds{15} * i), rate);
    said.push_back(forecast.ahead(seconds{45}));
  }
  EXPECT_NEAR(static_cast<double>(above_p90) / static_cast<double>(all), 0.1, 0.04);
  EXPECT_NEAR(static_cast<double>(above_median) / static_cast<double>(all), 0.5, 0.08);
}

TEST(RateForecast, GapsAreSurvived) {
  RateForecast forecast;
  show(forecast, 0, 30, day);
  show(forecast, 41, 41.05, day);  // eleven hours later, and thrice as much would be believed as well
  EXPECT_LT(relative_error(forecast.ahead(minutes{1}).median(), day(41.05)), 0.15);
}

TEST(RateForecast, ClocksThatAreSetForwardCostNoMoreThanARoughDay) {
  const Rate shifted = [](double hour) { return day(hour + 1); };
  RateForecast forecast;
  show(forecast, 0, 24 * 8, day);
  double worst = 0;
  for (double hour = 24 * 8; hour < 24 * 9; hour += 0.25) {
    show(forecast, hour, hour + 0.25, shifted);
    worst =
        std::max(worst, relative_error(forecast.ahead(minutes{5}).median(), shifted(hour + 0.25 + 5 / 60.0)));
  }
  EXPECT_LT(worst, 0.2);
}

TEST(RateForecast, ASpikeDoesNotPoisonWhatComesAfter) {
  RateForecast calm, spiked;
  show(calm, 0, 24 * 3, day);
  show(spiked, 0, 24 * 2.5, day);
  show(spiked, 24 * 2.5, 24 * 2.5 + 0.05, [](double) { return 5000.0; });
  show(spiked, 24 * 2.5 + 0.05, 24 * 3, day);
  const RateOutlook expected = calm.ahead(minutes{5}), found = spiked.ahead(minutes{5});
  EXPECT_LT(relative_error(found.median(), expected.median()), 0.05);
  EXPECT_LT(found.quantile(0.9), 1.3 * expected.quantile(0.9));
  // The same time a day later: nobody waits for the spike to come back.
  show(spiked, 24 * 3, 24 * 3.5, day);
  EXPECT_LT(relative_error(spiked.ahead(minutes{2}).median(), day(24 * 3.5)), 0.15);
}

TEST(RateForecast, LeavesOutWhatCannotBe) {
  RateForecast forecast;
  show(forecast, 0, 1, day, 0);
  const double before = forecast.ahead(minutes{1}).median();
  forecast.observe(Time(hours{1}), std::numeric_limits<double>::quiet_NaN());
  forecast.observe(Time(hours{1}), -3);
  forecast.observe(Time(minutes{1}), 900);  // long ago
  EXPECT_EQ(forecast.ahead(minutes{1}).median(), before);
  forecast.observe(Time(hours{1}), 0);
  EXPECT_TRUE(std::isfinite(forecast.ahead(minutes{1}).quantile(0.99)));
}

TEST(RateForecast, IsTakenUpWhereItWasPutAway) {
  RateForecast whole, first;
  show(whole, 0, 48, day);
  show(first, 0, 48, day);
  const auto bytes = first.save().bytes();
  EXPECT_LT(bytes.size(), 64U * 1024);
  RateForecast second;
  ASSERT_TRUE(second.restore(*learning::SavedState::parse(bytes)));
  for (const Duration ahead : {Duration{seconds{30}}, Duration{minutes{5}}})
    EXPECT_NEAR(second.ahead(ahead).quantile(0.95), whole.ahead(ahead).quantile(0.95), 1e-3);
  show(second, 48, 49, day);
  EXPECT_LT(relative_error(second.ahead(minutes{1}).median(), day(49)), 0.1);
}

TEST(RateForecast, RefusesAStateThatIsNotItsOwn) {
  RateForecast forecast;
  show(forecast, 0, 1, day);
  const double before = forecast.ahead(minutes{1}).median();
  learning::SavedState other;
  other.put("observed", 7);
  EXPECT_FALSE(forecast.restore(other));
  EXPECT_EQ(forecast.ahead(minutes{1}).median(), before);
}

TEST(RateForecast, LeavesOutRatesThatCannotBe) {
  RateForecast forecast;
  Time at{std::chrono::hours{1}};
  for (int i = 0; i < 100; ++i) {
    forecast.observe(at += std::chrono::seconds{15}, 100);
    forecast.observe(at + std::chrono::seconds{5}, i % 2 == 0 ? 1e300 : -1);
    forecast.observe(at + std::chrono::seconds{6}, std::nan(""));
  }
  EXPECT_NEAR(forecast.ahead(std::chrono::seconds{45}).median(), 100, 5);
}

}  // namespace
}  // namespace evenkeel::prediction
