#include <gtest/gtest.h>

#include "autoscaling/policies/evenkeel_curve.h"
#include "autoscaling/policies/evenkeel_level.h"
#include "autoscaling/policies/evenkeel_manners.h"
#include "autoscaling/policies/evenkeel_need.h"
#include "autoscaling/policies/evenkeel_shadow.h"
#include "autoscaling/test_services.h"
#include "base/random.h"

namespace evenkeel::autoscaling {
namespace {

using std::chrono::seconds;

constexpr double kBound = 0.25;

double queue_p95(double busy) { return -std::log(0.05) / (50 * (1 - busy)); }

TEST(ResponseCurve, IsAQueuesBeforeAnythingWasMeasured) {
  const ResponseCurve curve(0.95);
  EXPECT_NEAR(curve.expected_s({0.5, 3, 50}), queue_p95(0.5), 1e-9);
  EXPECT_LT(curve.chance_above({0.6, 3, 50}, kBound), 0.01);
  EXPECT_GT(curve.chance_above({0.85, 3, 50}, kBound), 0.9);
  EXPECT_EQ(curve.chance_above({1.2, 3, 50}, kBound), 1);
}

TEST(ResponseCurve, LearnsAServiceThatTakesLonger) {
  ResponseCurve curve(0.95);
  Random random(1);
  for (int i = 0; i < 500; ++i) {
    const double busy = random.between(0.2, 0.6);
    curve.observe({busy, 3, 50}, 2 * queue_p95(busy));
  }
  EXPECT_NEAR(curve.expected_s({0.5, 3, 50}), 2 * queue_p95(0.5), 0.02);
  // Busier than it ever was: as much slower as at the busiest that was seen, and less sure.
  EXPECT_GT(curve.chance_above({0.7, 3, 50}, kBound), 0.9);
}

TEST(ResponseCurve, LearnsThatManyPodsShareAQueueBetter) {
  ResponseCurve curve(0.95);
  Random random(2);
  for (int i = 0; i < 4000; ++i) {
    const double busy = random.between(0.3, 0.85);
    curve.observe({busy, 2, 50}, queue_p95(busy));
    curve.observe({busy, 10, 50}, 0.4 * queue_p95(busy));
  }
  EXPECT_GT(curve.chance_above({0.82, 2, 50}, kBound), 0.9);
  EXPECT_LT(curve.chance_above({0.82, 10, 50}, kBound), 0.1);
}

TEST(ResponseCurve, LeavesOutWhatCannotBe) {
  ResponseCurve curve(0.95);
  curve.observe({0.5, 3, 50}, -1);
  curve.observe({0.5, 3, 50}, std::nan(""));
  curve.observe({1.5, 3, 50}, 4);
  EXPECT_EQ(curve.samples(), 0);
}

TEST(ResponseCurve, IsTakenUpWhereItWasPutAway) {
  ResponseCurve first(0.95), second(0.95);
  for (int i = 0; i < 50; ++i) first.observe({0.5, 3, 50}, 0.2);
  learning::SavedState state;
  first.save(state, "curve");
  second.restore(state, "curve");
  ASSERT_TRUE(state.status());
  EXPECT_EQ(second.expected_s({0.55, 3, 50}), first.expected_s({0.55, 3, 50}));
}

TEST(LevelModel, NeedsAsManyAsKeepTheBoundAndMoreForABacklog) {
  const ResponseCurve curve(0.95);
  LevelModel model{.curve = curve, .per_pod = 50, .bound_s = kBound, .most = 20};
  EXPECT_EQ(model.least(100), 3);  // two would be busy all the time
  EXPECT_EQ(model.least(125), 4);  // three are 83 % busy: too slow
  model.backlog_per_s = 100;
  EXPECT_EQ(model.least(100), 6);
  model.most = 4;
  EXPECT_EQ(model.least(100), 4);  // never more than there may be
}

TEST(RateToServe, IsHigherForRatesThatJump) {
  const RateSeen smooth{100, 100, 0.02, 0.01}, restless{100, 100, 0.2, 0.05}, bursts{100, 100, 0.2, 0.2};
  for (std::size_t margin = 0; margin < kMargins.size(); ++margin)
    for (std::size_t reserve = 0; reserve < kReserves.size(); ++reserve) {
      EXPECT_GT(rate_to_serve(smooth, margin, reserve), 100);
      EXPECT_GT(rate_to_serve(restless, margin, reserve), rate_to_serve(smooth, margin, reserve));
      EXPECT_GT(rate_to_serve(bursts, margin, reserve), rate_to_serve(restless, margin, reserve));
    }
}

TEST(RateToServe, KeepsAReserveForTheUsualRateWhileItIsLow) {
  const RateSeen low{20, 100, 0.2, 0.1};
  EXPECT_GT(rate_to_serve(low, 0, 0), 100);
}

TEST(Needs, KeepMoreThanTheyWouldOrder) {
  const ResponseCurve curve(0.95);
  const LevelModel model{.curve = curve, .per_pod = 50, .bound_s = kBound, .most = 30};
  for (double rate = 20; rate < 900; rate += 7) {
    const Needs needs = needs_of(model, {rate, rate, 0.05, 0.03});
    for (const Needs::ByMargin& keep : needs.keep)
      for (std::size_t margin = 0; margin < kMargins.size(); ++margin)
        for (std::size_t reserve = 0; reserve < kReserves.size(); ++reserve)
          EXPECT_GE(keep[margin][reserve], needs.now[margin][reserve]);
  }
}

TEST(RateLevel, TellsWhatJumpsFromReportToReportFromWhatJumpsByTheMinute) {
  Random random(1);
  RateLevel bursts, minutes, smooth;
  double minute = 0, next = 0;
  for (int i = 0; i < 2000; ++i) {
    const Time at = kNow + seconds{15 * i};
    if (i % 4 == 0) minute = next, next = random.between(-30, 30);
    bursts.observe(at, 100 + random.between(-30, 30));
    minutes.observe(at, 100 + minute + (next - minute) * (i % 4) / 4.0);
    smooth.observe(at, 100 + i / 100.0);
  }
  EXPECT_NEAR(bursts.bursts(), 0.18, 0.04);
  EXPECT_NEAR(bursts.noise(), 0.18, 0.04);
  EXPECT_NEAR(minutes.noise(), 0.17, 0.05);
  EXPECT_LT(minutes.bursts(), 0.5 * minutes.noise());
  EXPECT_LT(smooth.noise(), 0.02);
  EXPECT_NEAR(bursts.level(), 100, 10);
}

TEST(RateLevel, LeavesOutWhatIsNoRateAndBeginsAnewAfterAGap) {
  RateLevel level;
  for (int i = 0; i < 40; ++i) level.observe(kNow + seconds{15 * i}, 50);
  const double noise = level.noise();
  level.observe(kNow + seconds{600}, std::nan(""));
  level.observe(kNow + seconds{600}, -1);
  level.observe(kNow, 5000);
  EXPECT_EQ(level.level(), 50);
  level.observe(kNow + seconds{7200}, 200);  // nobody knows what was in between
  level.observe(kNow + seconds{7215}, 200);
  EXPECT_EQ(level.level(), 200);
  EXPECT_LE(level.noise(), noise);
}

TEST(RateLevel, IsTakenUpWhereItWasPutAway) {
  RateLevel first, second;
  for (int i = 0; i < 40; ++i) first.observe(kNow + seconds{15 * i}, 50 + i % 3);
  learning::SavedState state;
  first.save(state, "level");
  second.restore(state, "level");
  ASSERT_TRUE(state.status());
  EXPECT_EQ(second.noise(), first.noise());
  EXPECT_EQ(second.level(), first.level());
}

TEST(RecommendedLately, HoldsTheHighestOfTheWindow) {
  RecommendedLately lately;
  lately.add(5, kNow, seconds{300});
  lately.add(3, kNow + seconds{15}, seconds{300});
  lately.add(4, kNow + seconds{30}, seconds{300});
  EXPECT_EQ(lately.highest(), 5);
  lately.add(2, kNow + seconds{300}, seconds{300});
  EXPECT_EQ(lately.highest(), 4);
}

TEST(ShadowScaling, PaysForPodsFromTheOrderAndHasThemOnceTheyStarted) {
  const ResponseCurve curve(0.95);
  ShadowScaling shadow;
  shadow.begin(1);
  shadow.scale(3, kNow, seconds{300}, seconds{20});
  EXPECT_EQ(shadow.wanted(), 3);
  EXPECT_EQ(shadow.ready(), 1);
  const ShadowScaling::Service service{100, 50, kBound, curve};
  shadow.serve(service, seconds{15}, kNow + seconds{15});
  EXPECT_EQ(shadow.ready(), 1);
  EXPECT_GT(shadow.backlog(), 0);
  EXPECT_NEAR(shadow.tally().violation(), 1, 1e-6);
  shadow.serve(service, seconds{15}, kNow + seconds{45});
  EXPECT_EQ(shadow.ready(), 3);
}

TEST(ShadowScaling, HoldsFallsBackForTheWindow) {
  ShadowScaling shadow;
  shadow.begin(4);
  shadow.scale(2, kNow, seconds{60}, seconds{10});
  EXPECT_EQ(shadow.wanted(), 4);
  shadow.scale(2, kNow + seconds{75}, seconds{60}, seconds{10});
  EXPECT_EQ(shadow.wanted(), 2);
}

TEST(ShadowedHpa, IsHpasRule) {
  EXPECT_EQ(recommended_by_hpa(0.72, 0.7, 0.1, 4, 4), 4);  // within the tolerance
  EXPECT_EQ(recommended_by_hpa(0.9, 0.7, 0.1, 4, 4), 6);
  EXPECT_EQ(recommended_by_hpa(0.3, 0.7, 0.1, 4, 4), 2);
  EXPECT_EQ(recommended_by_hpa(0.9, 0.7, 0.1, 4, 6), 6);  // those that start count as idle
}

TEST(Manner, FallsOnlyWhereTheRateIsClearlyLower) {
  Needs needs;
  const auto fill = [](Needs::ByMargin& all, std::int32_t pods) {
    for (Needs::ByReserve& row : all) row.fill(pods);
  };
  fill(needs.now, 3);
  fill(needs.keep[0], 3);
  fill(needs.keep[1], 4);
  const Manner sure{1, 1, 0, 0}, doubtful{1, 1, 1, 0};
  EXPECT_EQ(recommended_by(sure, needs, 4, false), 3);
  EXPECT_EQ(recommended_by(doubtful, needs, 4, false), 4);
  EXPECT_EQ(recommended_by(doubtful, needs, 2, false), 3);
  EXPECT_EQ(recommended_by(doubtful, needs, 2, true), 4);
}

TEST(Manner, HoldsFallsBackLongerWhereRatesJumpFromReportToReport) {
  const Manner manner{0, 0, 0, 0};
  EXPECT_EQ(window_of(manner, 0.01), seconds{60});
  EXPECT_EQ(window_of(manner, 0.12), seconds{120});
  EXPECT_EQ(window_of(manner, 0.9), seconds{180});
}

}  // namespace
}  // namespace evenkeel::autoscaling
