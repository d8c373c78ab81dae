#include "prediction/regression.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace evenkeel::prediction {
namespace {

TEST(Regression, KnowsNothingAtFirst) {
  const Regression line;
  EXPECT_TRUE(line.empty());
  EXPECT_EQ(line.predict(5), 0);
  EXPECT_EQ(line.residual_variance(), 0);
}

TEST(Regression, RepeatsTheOnlyValueItHasSeenWhateverIsAsked) {
  Regression line;
  line.add(2, 7);
  line.add(2, 7);
  for (const double x : {-10.0, 2.0, 1000.0}) EXPECT_DOUBLE_EQ(line.predict(x), 7);
}

TEST(Regression, FindsALineOnceXVaries) {
  Regression line;
  for (int x = 0; x < 20; ++x) line.add(x, 3 - 0.5 * x);
  EXPECT_NEAR(line.predict(100), -47, 1e-3);
  EXPECT_NEAR(line.residual_variance(), 0, 1e-4);
}

TEST(Regression, BelievesASlopeTheLessTheLessXVaried) {
  Regression narrow, wide;
  for (const double x : {-1.0, 1.0}) {
    narrow.add(0.01 * x, 0.01 * x);
    wide.add(x, x);
  }
  EXPECT_NEAR(wide.predict(1), 1, 0.001);
  EXPECT_GT(narrow.predict(1), 0);
  EXPECT_LT(narrow.predict(1), 0.3);
}

TEST(Regression, MeasuresTheSpreadAroundTheLineAndNotAroundTheMean) {
  Random random(3);
  Regression line;
  for (int i = 0; i < 5000; ++i) {
    const double x = random.between(0, 10);
    line.add(x, 100 * x + random.normal(0, 2));
  }
  EXPECT_NEAR(line.residual_variance(), 4, 0.3);
}

TEST(Regression, ForgetsWhatFaded) {
  Regression line;
  for (int i = 0; i < 100; ++i) line.add(i % 10, 1);
  line.fade(0);
  EXPECT_TRUE(line.empty());
  line.add(1, 50);
  EXPECT_DOUBLE_EQ(line.predict(1), 50);
  for (int i = 0; i < 100; ++i) line.add(1, 50);
  line.fade(0.01);
  for (int i = 0; i < 9; ++i) line.add(1, 60);
  EXPECT_NEAR(line.predict(1), 59, 0.2);  // 1.01 old ones against 9 new ones
}

TEST(Regression, CountsAWeightedSampleAsThatMany) {
  Regression weighted, repeated;
  const double ys[] = {1, 4, 2};
  for (int i = 0; i < 3; ++i) {
    weighted.add(i, ys[i], 3);
    for (int k = 0; k < 3; ++k) repeated.add(i, ys[i]);
  }
  EXPECT_NEAR(weighted.predict(5), repeated.predict(5), 1e-12);
  EXPECT_NEAR(weighted.residual_variance(), repeated.residual_variance(), 1e-12);
}

}  // namespace
}  // namespace evenkeel::prediction
