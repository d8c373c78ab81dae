#include "prediction/lifetime.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace evenkeel::prediction {
namespace {

TEST(Lifetime, IsEndlessWhereNobodyEverEnded) {
  const Lifetime life = LifetimeHistory().predict(1);
  EXPECT_TRUE(life.endless);
  EXPECT_EQ(life.survival(0, 1e9), 1);
  EXPECT_EQ(life.survival(1e9, 1e9), 1);
}

TEST(Lifetime, IsReadOffATableAsExactAsNeedBe) {
  const Lifetime life{0, 1, false};  // ln of its seconds is a standard normal
  for (double z = -7; z <= 7; z += 0.0137)
    EXPECT_NEAR(life.survival(0, std::exp(z)), 0.5 * std::erfc(z / std::sqrt(2.0)), 1e-5) << z;
}

TEST(Lifetime, IsHalfOverAtItsMedian) {
  const Lifetime life{std::log(120), 0.4, false};
  EXPECT_NEAR(life.median_s(), 120, 1e-9);
  EXPECT_NEAR(life.survival(0, 120), 0.5, 1e-5);
}

TEST(Lifetime, NeverGrowsTheFurtherAheadOneLooks) {
  for (const double spread : {0.03, 0.5, 2.0})
    for (const double age : {0.0, 1.0, 60.0, 200.0, 5000.0, 1e6}) {
      const Lifetime life{std::log(60), spread, false};
      double last = 1;
      for (double ahead = 0; ahead < 1000; ahead += 7) {
        const double chance = life.survival(age, ahead);
        EXPECT_LE(chance, last + 1e-12) << spread << " " << age << " " << ahead;
        EXPECT_GE(chance, 0);
        last = chance;
      }
      EXPECT_DOUBLE_EQ(life.survival(age, 0), 1) << spread << " " << age;
    }
}

TEST(Lifetime, IsConditionalOnHavingComeThisFar) {
  const Lifetime life{std::log(100), 0.5, false};
  EXPECT_NEAR(life.survival(80, 50), life.survival(0, 130) / life.survival(0, 80), 1e-12);
  EXPECT_GT(life.survival(80, 50), life.survival(0, 130));
}

TEST(Lifetime, AnswersManyTimesAtOnceAsItAnswersEach) {
  const Lifetime life{std::log(100), 0.5, false};
  const double ahead[] = {0, 10, 100, 1000};
  double chances[4];
  life.survival(42, ahead, chances);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(chances[i], life.survival(42, ahead[i]));
}

TEST(LifetimeHistory, RecoversFixedWork) {
  Random random(5);
  LifetimeHistory history;
  for (int i = 0; i < 200; ++i) {
    const double cores = random.between(0.2, 0.5);
    history.add(cores, 30 / cores);  // half the CPU, twice the time
  }
  EXPECT_NEAR(history.predict(0.25).median_s(), 120, 1);
  EXPECT_NEAR(history.predict(1).median_s(), 30, 1);  // never seen, but it is a power law
}

TEST(LifetimeHistory, RecoversFixedDuration) {
  Random random(5);
  LifetimeHistory history;
  for (int i = 0; i < 200; ++i) history.add(random.between(0.2, 0.5), 90);
  for (const double cores : {0.1, 0.25, 2.0})
    EXPECT_NEAR(history.predict(cores).median_s(), 90, 0.5) << cores;
}

TEST(LifetimeHistory, GrowsSurerWithEveryEnd) {
  LifetimeHistory history;
  double last = 1e9;
  for (const int ends : {1, 4, 100}) {
    while (history.ends() < static_cast<std::size_t>(ends)) history.add(1, 60);
    const double spread = history.predict(1).log_spread;
    EXPECT_LT(spread, last);
    last = spread;
  }
  EXPECT_GT(last, 0);  // contention alone makes run times vary
}

TEST(LifetimeHistory, FindsTheSpreadOfWhatItSaw) {
  Random random(7);
  LifetimeHistory history;
  for (int i = 0; i < 4000; ++i) history.add(1, 60 * std::exp(random.normal(0, 0.7)));
  EXPECT_NEAR(history.predict(1).log_spread, 0.7, 0.03);
  EXPECT_NEAR(history.predict(1).median_s(), 60, 3);
}

}  // namespace
}  // namespace evenkeel::prediction
