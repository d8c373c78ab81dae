#include "agents/model_pool.h"

#include <gtest/gtest.h>

#include <limits>

namespace evenkeel::agents {
namespace {

using namespace std::chrono_literals;
const Time kStart = Time{} + 1h;
constexpr ModelVersion kKnown{4, 9};

ModelPool pool_of(std::vector<float> parameters, ModelPool::Options options = {}) {
  ModelPool pool(options);
  pool.begin_term(5, kKnown, std::move(parameters), kStart);
  return pool;
}

TEST(ModelPool, AveragesByExperience) {
  ModelPool pool = pool_of({0, 0});
  pool.offer("a", {kKnown, 1, {1, 4}});
  pool.offer("b", {kKnown, 3, {5, 0}});
  const auto model = pool.average(kStart + 60s);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->term, 5U);
  EXPECT_EQ(model->version, (ModelVersion{5, 1}));
  EXPECT_EQ(model->parameters, (std::vector<float>{4, 1}));
  EXPECT_EQ(pool.current(), *model);
}

TEST(ModelPool, CountsEachAgentsLatestAlone) {
  ModelPool pool = pool_of({0});
  pool.offer("a", {kKnown, 1, {1}});
  pool.offer("a", {kKnown, 2, {2}});
  pool.offer("b", {kKnown, 2, {4}});
  EXPECT_EQ(pool.average(kStart + 60s)->parameters, std::vector<float>{3});
}

TEST(ModelPool, MakesOneNowAndThen) {
  ModelPool pool = pool_of({0});
  EXPECT_EQ(pool.wake_at(), Time::max()) << "nothing to average";
  EXPECT_FALSE(pool.average(kStart + 2min));
  pool.offer("a", {kKnown, 1, {1}});
  EXPECT_EQ(pool.wake_at(), kStart + 60s);
  EXPECT_FALSE(pool.average(kStart + 59s));
  ASSERT_TRUE(pool.average(kStart + 61s));
  EXPECT_FALSE(pool.average(kStart + 10min)) << "nobody has learnt since";
  pool.offer("a", {{5, 1}, 1, {1}});
  EXPECT_EQ(pool.wake_at(), kStart + 121s);
  EXPECT_EQ(pool.average(kStart + 121s)->version, (ModelVersion{5, 2}));
}

TEST(ModelPool, WaitsForAsManyAgentsAsItIsToldTo) {
  ModelPool pool = pool_of({0}, {60s, 2, 10});
  pool.offer("a", {kKnown, 1, {1}});
  pool.offer("a", {kKnown, 2, {1}});
  EXPECT_FALSE(pool.average(kStart + 5min));
  pool.offer("b", {kKnown, 1, {1}});
  EXPECT_TRUE(pool.average(kStart + 5min + 1s));
}

TEST(ModelPool, LeavesOutAndCountsWhatItCannotUse) {
  ModelPool pool = pool_of({0, 0});
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  pool.offer("old", {{4, 8}, 5, {1, 1}});
  pool.offer("new", {{6, 1}, 5, {1, 1}});
  pool.offer("small", {kKnown, 5, {1}});
  pool.offer("large", {kKnown, 5, {1, 1, 1}});
  pool.offer("nan", {kKnown, 5, {1, nan}});
  pool.offer("infinite", {kKnown, 5, {1, -infinity}});
  pool.offer("wild", {kKnown, 5, {10.5F, 0}});
  pool.offer("idle", {kKnown, 0, {5, 5}});
  EXPECT_FALSE(pool.average(kStart + 60s));
  pool.offer("well", {kKnown, 5, {1, 2}});
  EXPECT_EQ(pool.average(kStart + 61s)->parameters, (std::vector<float>{1, 2}));
  EXPECT_EQ(pool.figures().lessons, 9U);
  EXPECT_EQ(pool.figures().refused_old, 2U);
  EXPECT_EQ(pool.figures().refused_shape, 2U);
  EXPECT_EQ(pool.figures().refused_values, 3U);
  EXPECT_EQ(pool.figures().models, 1U);
}

TEST(ModelPool, ForgetsLessonsOfTheModelBefore) {
  ModelPool pool = pool_of({0});
  pool.offer("a", {kKnown, 1, {1}});
  ASSERT_TRUE(pool.average(kStart + 60s));
  pool.offer("b", {kKnown, 100, {8}});  // on its way when the model was made
  EXPECT_FALSE(pool.average(kStart + 5min));
  EXPECT_EQ(pool.figures().refused_old, 1U);
}

TEST(ModelPool, StartsANewTermFromWhatItsLeaderKnows) {
  ModelPool pool = pool_of({0});
  pool.offer("a", {kKnown, 1, {1}});
  pool.begin_term(6, {5, 3}, {2}, kStart + 50s);
  EXPECT_FALSE(pool.average(kStart + 60s)) << "lessons of another term";
  EXPECT_EQ(pool.current().version, (ModelVersion{5, 3}));
  pool.offer("a", {{5, 3}, 1, {3}});
  const auto model = pool.average(kStart + 110s);
  EXPECT_EQ(model->version, (ModelVersion{6, 1}));
  pool.begin_term(6, model->version, model->parameters, kStart + 120s);
  pool.offer("a", {{6, 1}, 1, {4}});
  EXPECT_EQ(pool.average(kStart + 180s)->version, (ModelVersion{6, 2})) << "no version twice";
}

TEST(ModelPool, AveragesTheSameWhateverTheOrderOfOffers) {
  const auto averaged = [](bool reversed) {
    ModelPool pool = pool_of({0, 0, 0});
    for (int i = 0; i < 50; ++i) {
      const int agent = reversed ? 49 - i : i;
      const auto value = static_cast<float>(agent) / 7;
      pool.offer("n" + std::to_string(agent),
                 {kKnown, static_cast<std::uint32_t>(agent + 1), {value, -value, 1}});
    }
    return pool.average(kStart + 60s)->parameters;
  };
  EXPECT_EQ(averaged(false), averaged(true));
}

}  // namespace
}  // namespace evenkeel::agents
