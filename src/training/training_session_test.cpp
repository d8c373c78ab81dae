#include "training/training_session.h"

#include <gtest/gtest.h>

#include <cmath>

#include "training/test_trainer.h"

namespace evenkeel::training {
namespace {

TrainingSession session_of(std::uint64_t seed, const std::string& extra = "") {
  const std::string text = std::string(kTestRecipe) + extra;
  const Result<YamlFile> file = YamlFile::parse(text, "trial.yaml");
  TrainingOrder order;
  order.seed = seed;
  Result<Training> training = start_training(*file, order, kTestLearners);
  EVENKEEL_CHECK(training);
  const std::string name = training->recipe;
  return TrainingSession(*std::move(training), {name, text, seed, {}});
}

std::string bytes_of(const TrainingSession& session) { return learning::serialise(*session.model()); }

void run_to(TrainingSession& session, std::size_t step) {
  while (session.done() < step) session.advance();
}

TEST(TrainingSession, EndsInTheSameBytesWhereverItWasInterrupted) {
  TrainingSession whole = session_of(3);
  run_to(whole, 40);
  EXPECT_TRUE(whole.finished());
  for (const std::size_t stop : {std::size_t{0}, std::size_t{1}, std::size_t{17}, std::size_t{40}}) {
    TrainingSession first = session_of(3);
    run_to(first, stop);
    TrainingSession second = session_of(3);
    ASSERT_TRUE(second.resume(first.checkpoint()));
    EXPECT_EQ(second.done(), stop);
    run_to(second, 40);
    EXPECT_EQ(bytes_of(second), bytes_of(whole)) << stop;
    EXPECT_EQ(second.curve().steps(), 40U) << stop;
    // State and curve as well.
    EXPECT_EQ(second.checkpoint(), whole.checkpoint()) << stop;
  }
  TrainingSession other = session_of(4);
  run_to(other, 40);
  EXPECT_NE(bytes_of(other), bytes_of(whole));
}

TEST(TrainingSession, RefusesACheckpointOfAnotherTrainingByName) {
  TrainingSession first = session_of(3);
  run_to(first, 5);
  const auto refusal = [&](TrainingSession session) {
    const Status done = session.resume(first.checkpoint());
    return done ? "no error" : done.error().message;
  };
  EXPECT_EQ(refusal(session_of(4)), "checkpoint of recipe 'trial' with seed 3: this training has seed 4");
  EXPECT_EQ(
      refusal(session_of(3, "diverges: false\n")),
      "checkpoint of recipe 'trial' with seed 3: the recipe or a --set has changed since it was written");
  const auto as = [](TrainingIdentity identity) {
    TrainingSession made = session_of(3);
    const Result<YamlFile> file = YamlFile::parse(kTestRecipe, "trial.yaml");
    TrainingOrder order;
    order.seed = 3;
    return TrainingSession(*start_training(*file, order, kTestLearners), std::move(identity));
  };
  EXPECT_EQ(refusal(as({"other", std::string(kTestRecipe), 3, {}})),
            "checkpoint of recipe 'trial' with seed 3: this training is of recipe 'other'");
  EXPECT_EQ(
      refusal(as({"trial", std::string(kTestRecipe), 3, {"drs-even"}})),
      "checkpoint of recipe 'trial' with seed 3 in the recipe's own worlds: this training is in drs-even");
}

TEST(TrainingSession, RefusesACheckpointWithAnyByteChangedOrCutOff) {
  TrainingSession first = session_of(3);
  run_to(first, 5);
  const std::string good = first.checkpoint();
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    EXPECT_FALSE(session_of(3).resume(bad)) << i;
    EXPECT_FALSE(session_of(3).resume(good.substr(0, i))) << i;
  }
  EXPECT_FALSE(session_of(3).resume(good + "x"));
  const Status newer = session_of(3).resume("evenkeel-checkpoint 9 what ever\n");
  EXPECT_EQ(newer.error().message, "checkpoint: file version 9, this program reads version 1");
}

TEST(TrainingSession, PutsRecipeAndWorldsIntoTheModel) {
  TrainingSession session = session_of(1);
  run_to(session, 2);
  const auto model = session.model();
  ASSERT_TRUE(model);
  EXPECT_EQ(model->recipe, kTestRecipe);
}

TEST(TrainingSession, GivesNoModelWhoseWeightsAreNoNumbers) {
  TrainingSession session = session_of(1, "diverges: true\n");
  session.advance();
  const auto model = session.model();
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().message.find("not a finite number"), std::string::npos) << model.error().message;
}

TEST(LearningCurve, KeepsAFigureThatComesUpNowAndThenInStep) {
  LearningCurve curve;
  curve.add({{"reward", 1}});
  curve.add({{"reward", 2}, {"loss", 5}});
  curve.add({});
  ASSERT_EQ(curve.lines().size(), 2U);
  EXPECT_EQ(curve.steps(), 3U);
  EXPECT_TRUE(std::isnan(curve.lines()[1].values[0]));
  EXPECT_EQ(curve.lines()[1].values[1], 5);
  EXPECT_EQ(curve.lines()[1].values.size(), 3U);
  EXPECT_EQ(LearningCurve::last(curve.lines()[0]), 2);
}

}  // namespace
}  // namespace evenkeel::training
