#include <gtest/gtest.h>

#include "autoscaling/policies/evenkeel_curve.h"
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

TEST(LevelModel, NeedsMoreForARateThatIsLessSure) {
  const ResponseCurve curve(0.95);
  const LevelModel model{.curve = curve, .per_pod = 50, .bound_s = kBound, .most = 20};
  prediction::RateOutlook sure, unsure;
  sure.rates.fill(100);
  for (std::size_t i = 0; i < unsure.rates.size(); ++i)
    unsure.rates[i] = 50 + 100 * static_cast<double>(i) / 10;
  EXPECT_EQ(model.least(sure, 0.05), 3);
  EXPECT_GT(model.least(unsure, 0.05), 3);
  EXPECT_GE(model.least(unsure, 0.01), model.least(unsure, 0.2));
}

TEST(LevelModel, NeedsMoreForABacklogAndNeverMoreThanThereMayBe) {
  const ResponseCurve curve(0.95);
  prediction::RateOutlook outlook;
  outlook.rates.fill(100);
  LevelModel model{.curve = curve, .per_pod = 50, .bound_s = kBound, .backlog_per_s = 100, .most = 20};
  EXPECT_EQ(model.least(outlook, 0.05), 6);
  model.most = 4;
  EXPECT_EQ(model.least(outlook, 0.05), 4);
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
  needs.ahead.fill(3);
  needs.keep[0].fill(3);
  needs.keep[1].fill(4);
  EXPECT_EQ(recommended_by({2, 0, 0}, needs, 4, false), 3);
  EXPECT_EQ(recommended_by({2, 1, 0}, needs, 4, false), 4);
  EXPECT_EQ(recommended_by({2, 1, 0}, needs, 2, false), 3);
  EXPECT_EQ(recommended_by({2, 1, 0}, needs, 2, true), 4);
}

}  // namespace
}  // namespace evenkeel::autoscaling
