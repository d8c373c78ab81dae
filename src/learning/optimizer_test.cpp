#include "learning/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace evenkeel::learning {
namespace {

constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();
constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

TEST(Optimizer, StepsAgainstTheGradientAsSgd) {
  Optimizer optimizer(2, {.kind = OptimizerKind::sgd, .learning_rate = 0.5});
  std::vector<Real> parameters{1, 2}, gradient{4, -2};
  EXPECT_TRUE(optimizer.step(parameters, gradient));
  EXPECT_EQ(parameters, (std::vector<Real>{-1, 3}));
  EXPECT_EQ(gradient, (std::vector<Real>{0, 0}));
}

TEST(Optimizer, TakesAdamsFirstTwoStepsAsComputedByHand) {
  Optimizer optimizer(1, {.learning_rate = 0.1});
  std::vector<Real> parameter{1}, gradient{0.5};
  ASSERT_TRUE(optimizer.step(parameter, gradient));
  EXPECT_NEAR(parameter[0], 0.9, 1e-8);  // the first step is the learning rate, whatever the gradient's size
  gradient = {-1};
  ASSERT_TRUE(optimizer.step(parameter, gradient));
  const Real first = (0.9 * 0.1 * 0.5 - 0.1) / (1 - 0.81);
  const Real second = (0.999 * 0.001 * 0.25 + 0.001) / (1 - 0.999 * 0.999);
  EXPECT_NEAR(parameter[0], 0.9 - 0.1 * first / std::sqrt(second), 1e-7);
}

TEST(Optimizer, FindsTheBottomOfAValley) {
  for (const OptimizerKind kind : {OptimizerKind::adam, OptimizerKind::sgd}) {
    Optimizer optimizer(2, {.kind = kind, .learning_rate = 0.05});
    std::vector<Real> x{3, -2};
    for (int i = 0; i < 2000; ++i) {
      std::vector<Real> gradient{2 * (x[0] - 1), 20 * (x[1] - 0.5)};
      ASSERT_TRUE(optimizer.step(x, gradient));
    }
    EXPECT_NEAR(x[0], 1, 1e-3);
    EXPECT_NEAR(x[1], 0.5, 1e-3);
  }
}

TEST(Optimizer, RefusesAGradientThatIsNotFiniteAndChangesNothing) {
  for (const Real bad : {kNan, kInfinity, -kInfinity, 1e200}) {
    for (const OptimizerKind kind : {OptimizerKind::adam, OptimizerKind::sgd}) {
      Optimizer touched(2, {.kind = kind, .gradient_limit = 1}), untouched = touched;
      std::vector<Real> parameters{1, 2}, twin = parameters, gradient{0.5, bad}, good{0.5, 0.5}, same = good;
      EXPECT_FALSE(touched.step(parameters, gradient));
      EXPECT_EQ(parameters, twin);
      EXPECT_EQ(touched.steps(), 0U);
      EXPECT_EQ(gradient, (std::vector<Real>{0, 0})) << "or the next sum would begin with a NaN";
      EXPECT_TRUE(touched.step(parameters, good) && untouched.step(twin, same));
      EXPECT_EQ(parameters, twin);
    }
  }
}

TEST(Optimizer, LimitsTheNormAndKeepsTheDirection) {
  std::vector<Real> gradient{3, 4};
  EXPECT_DOUBLE_EQ(limit_norm(gradient, 10), 5);
  EXPECT_EQ(gradient, (std::vector<Real>{3, 4}));
  EXPECT_DOUBLE_EQ(limit_norm(gradient, 0), 5) << "0 is no limit";
  EXPECT_DOUBLE_EQ(limit_norm(gradient, 1), 5);
  EXPECT_DOUBLE_EQ(gradient[0], 0.6);
  EXPECT_DOUBLE_EQ(gradient[1], 0.8);
}

TEST(Optimizer, GoesOnFromACheckpointAsIfNothingHadHappened) {
  Optimizer whole(1, {}), resumed(1, {});
  std::vector<Real> a{1}, gradient{0.3};
  ASSERT_TRUE(whole.step(a, gradient));
  resumed.restore(whole.moments(), whole.steps());
  std::vector<Real> b = a, next{-0.2}, same = next;
  ASSERT_TRUE(whole.step(a, next) && resumed.step(b, same));
  EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace evenkeel::learning
