#include "learning/algorithms/vdn.h"

#include <gtest/gtest.h>

namespace evenkeel::learning {
namespace {

// Agents see one number; who acts earns it for all, and everybody else costs a tenth of theirs.
JointExperience draw(Random& random, Eigen::Index agents) {
  JointExperience experience{Matrix(1, agents), random.below(static_cast<std::uint64_t>(agents)), 0};
  for (Eigen::Index i = 0; i < agents; ++i) {
    experience.states(0, i) = random.between(-1, 1);
    const bool acts = static_cast<std::size_t>(i) == experience.actor;
    experience.reward += (acts ? 1.0 : -0.1) * experience.states(0, i);
  }
  return experience;
}

VdnOptions quick() { return {.optimizer = {.learning_rate = 0.01, .gradient_limit = 1}}; }

TEST(Vdn, FindsWhatEachIsWorthInWhatAllAreGiven) {
  Random random(1);
  Vdn vdn(1, quick(), random);
  for (int i = 0; i < 2000; ++i) {
    ASSERT_TRUE(vdn.remember(draw(random, 2 + static_cast<Eigen::Index>(random.below(4)))));
    vdn.learn(random);
  }
  // The advantage is 1.1 times what an agent sees, up to what all have in common.
  const auto advantage = [&](Real seen) {
    const Vector values = vdn.network().forward(std::span<const Real>(&seen, 1));
    return values[1] - values[0];
  };
  EXPECT_NEAR(advantage(0.5) - advantage(-0.5), 1.1, 0.1);
  const JointExperience unseen = draw(random, 7);
  EXPECT_NEAR(vdn.value(unseen), unseen.reward, 0.3);
}

TEST(Vdn, RefusesWhatIsNoNumber) {
  Random random(1);
  Vdn vdn(1, quick(), random);
  JointExperience bad = draw(random, 2);
  bad.states(0, 1) = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_FALSE(vdn.remember(bad));
  EXPECT_FALSE(vdn.remember({Matrix(1, 0), 0, 0}));
  EXPECT_EQ(vdn.size(), 0U);
}

TEST(Vdn, GoesOnAsIfItHadNeverStopped) {
  Random random(1);
  VdnOptions options = quick();
  options.capacity = 300;
  Vdn vdn(1, options, random);
  for (int i = 0; i < 350; ++i) ASSERT_TRUE(vdn.remember(draw(random, 3)));
  vdn.learn(random);
  Random other(2);
  Vdn copy(1, options, other);
  ASSERT_TRUE(copy.restore(vdn.save()));
  Random a(3), b(3);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(vdn.learn(a), copy.learn(b));
}

TEST(Vdn, RefusesADamagedState) {
  Random random(1);
  Vdn vdn(1, quick(), random);
  ASSERT_TRUE(vdn.remember(draw(random, 3)));
  SavedState state = vdn.save();
  state.put("count", 2);
  Vdn copy(1, quick(), random);
  EXPECT_FALSE(copy.restore(state));
}

}  // namespace
}  // namespace evenkeel::learning
