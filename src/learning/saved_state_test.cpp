#include "learning/saved_state.h"

#include <gtest/gtest.h>

#include <limits>

#include "learning/algorithms/dqn.h"
#include "learning/algorithms/ppo.h"
#include "learning/algorithms/sac.h"

namespace evenkeel::learning {
namespace {

TEST(SavedState, GivesBackEveryBit) {
  const std::vector<Real> values = {0.1, -0.0, 1e-310, std::numeric_limits<Real>::infinity()};
  SavedState inner, state;
  inner.put("count", std::uint64_t{1} << 63);
  state.put("values", values);
  state.put("inner", inner);
  Result<SavedState> read = SavedState::parse(state.bytes());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->reals("values"), values);
  EXPECT_EQ(read->part("inner").count("count"), std::uint64_t{1} << 63);
  EXPECT_TRUE(read->status());
}

TEST(SavedState, NamesThePartThatIsMissingOrOfAnotherSize) {
  SavedState state;
  state.put("three", std::vector<Real>{1, 2, 3});
  std::vector<Real> two(2);
  state.reals("three", two);
  ASSERT_FALSE(state.status());
  EXPECT_EQ(state.status().error().message, "saved state, part 'three': expected 2 numbers, found 3");
  SavedState empty;
  EXPECT_EQ(empty.count("steps"), 0U);
  ASSERT_FALSE(empty.status());
  EXPECT_EQ(empty.status().error().message, "saved state: part 'steps' is missing");
}

TEST(SavedState, RefusesWhatIsNone) {
  EXPECT_FALSE(SavedState::parse("not CBOR at all"));
  SavedState state;
  state.put("values", std::vector<Real>{1, 2, 3});
  const std::string bytes = state.bytes();
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(SavedState::parse(std::string_view(bytes).substr(0, length))) << length;
}

Experience step_of(Random& random) {
  const auto number = [&] { return random.between(-1, 1); };
  return {
      {number(), number()}, {1, 1, 0}, static_cast<int>(random.below(2)), number(), {number(), number()}, {},
      EpisodeEnd::none};
}

// Learns for a while, is put away and taken up by another, and both go on alike.
template <class Learner, class Options>
void expect_the_same_future(Options options) {
  Random random(1), other_seed(99);
  Learner learner(2, 3, options, random), other(2, 3, options, other_seed);
  const auto live = [](Learner& one, int steps, std::uint64_t seed) {
    Random own(seed);
    for (int i = 0; i < steps; ++i) {
      ASSERT_TRUE(one.remember(step_of(own)));
      (void)one.learn(own);
    }
  };
  live(learner, 60, 2);
  Result<SavedState> saved = SavedState::parse(learner.save().bytes());
  ASSERT_TRUE(saved);
  ASSERT_TRUE(other.restore(*saved));
  live(learner, 60, 3);
  live(other, 60, 3);
  EXPECT_EQ(learner.save().bytes(), other.save().bytes());
}

TEST(SavedState, LetsADqnGoOnAsIfNothingHadHappened) {
  DqnOptions options;
  options.replay.capacity = 50;  // fewer than it lives through: the oldest are overwritten
  expect_the_same_future<Dqn>(options);
  options.replay.prioritised = true;
  options.dueling = true;
  expect_the_same_future<Dqn>(options);
}

TEST(SavedState, LetsASacGoOnAsIfNothingHadHappened) {
  SacOptions options;
  options.batch = options.learn_from = 8;
  expect_the_same_future<Sac>(options);
}

TEST(SavedState, LetsAPpoGoOnAsIfNothingHadHappened) {
  const auto live = [](Ppo& one, std::uint64_t seed) {
    Random own(seed);
    for (int i = 0; i < 20; ++i) {
      const std::vector<Real> state = {own.between(-1, 1), own.between(-1, 1)};
      const Ppo::Choice choice = one.act(state, {}, own);
      ASSERT_TRUE(one.remember(
          {state, {}, choice.action, choice.log_probability, choice.value, own.between(-1, 1), i == 19, 0}));
    }
    one.learn(own);
  };
  Random random(1), other_seed(99);
  Ppo learner(2, 3, {}, random), other(2, 3, {}, other_seed);
  live(learner, 2);
  ASSERT_TRUE(other.restore(learner.save()));
  live(learner, 3);
  live(other, 3);
  EXPECT_EQ(learner.save().bytes(), other.save().bytes());
}

TEST(SavedState, OfAnotherShapeIsRefusedByALearner) {
  Random random(1);
  const Dqn small(2, 3, {}, random);
  Dqn large(4, 3, {}, random);
  const Status restored = large.restore(small.save());
  ASSERT_FALSE(restored);
  EXPECT_NE(restored.error().message.find("'online'"), std::string::npos) << restored.error().message;
}

}  // namespace
}  // namespace evenkeel::learning
