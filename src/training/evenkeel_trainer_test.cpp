#include "training/evenkeel_trainer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "training/counterfactual.h"
#include "training/recipes.h"

namespace evenkeel::training {
namespace {

Result<Training> start(const std::string& fields, std::uint64_t seed = 1, unsigned threads = 1) {
  const std::string text =
      "apiVersion: evenkeel.io/v1alpha1\nkind: Recipe\nname: small\nlearner: evenkeel\n" + fields;
  Result<YamlFile> file = YamlFile::parse(text, "small.yaml");
  EXPECT_TRUE(file);
  TrainingOrder order;
  order.seed = seed;
  order.threads = threads;
  return start_training(*file, order);
}

constexpr const char* kSmall =
    "rounds: 3\nworlds: 3\nlessons: 8\ncandidates: 3\nbatch: 4\nhidden: 4\nimprove_every: 2\nmost_nodes: 6\n";

std::string trained(Training& training) {
  while (training.trainer->done() < training.trainer->steps()) training.trainer->advance();
  return learning::serialise(training.trainer->model());
}

TEST(RandomWorld, IsTheSameForTheSameSeedAndAnotherForAnother) {
  const RandomWorld a = make_random_world({}, 4), b = make_random_world({}, 4), c = make_random_world({}, 5);
  ASSERT_EQ(a.plan.pods.size(), b.plan.pods.size());
  EXPECT_EQ(a.plan.nodes.size(), b.plan.nodes.size());
  EXPECT_EQ(a.plan.pods.back().arrival, b.plan.pods.back().arrival);
  EXPECT_NE(a.plan.pods.back().arrival, c.plan.pods.back().arrival);
}

TEST(RandomWorld, HasThreeToTwoHundredNodesAndPodsThatFit) {
  std::size_t fewest = 1000, most = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const RandomWorld world = make_random_world({}, seed);
    fewest = std::min(fewest, world.plan.nodes.size());
    most = std::max(most, world.plan.nodes.size());
    EXPECT_GE(world.plan.pods.size(), 60U);
    EXPECT_GT(world.look, Duration{});
  }
  EXPECT_EQ(fewest, 3U);
  EXPECT_GT(most, 30U);
  EXPECT_LE(most, 200U);
}

TEST(Counterfactual, JudgesTheSameDecisionAlikeEachTime) {
  const RandomWorld world = make_random_world({.most_nodes = 6}, 11);
  const CounterfactualOptions options{.candidates = 4, .lessons = 5};
  const auto first = lessons_of(world, nullptr, options, 1), second = lessons_of(world, nullptr, options, 1);
  ASSERT_FALSE(first.empty());
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].costs, second[i].costs);
    EXPECT_EQ(first[i].question.base.size(), first[i].costs.size());
    EXPECT_GE(first[i].costs.size(), 2U);
  }
}

TEST(Counterfactual, FindsHorizonsChoiceBetterThanTheAverageOne) {
  double saved = 0;
  std::size_t lessons = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const RandomWorld world = make_random_world({.most_nodes = 6, .laboratory_share = 1}, seed);
    for (const RatedNodes& lesson : lessons_of(world, nullptr, {.candidates = 6, .lessons = 25}, seed)) {
      const auto best = static_cast<std::size_t>(
          std::max_element(lesson.question.base.begin(), lesson.question.base.end()) -
          lesson.question.base.begin());
      float mean = 0;
      for (const float cost : lesson.costs) mean += cost / static_cast<float>(lesson.costs.size());
      saved += mean - lesson.costs[best];
      ++lessons;
    }
  }
  ASSERT_GT(lessons, 60U);
  EXPECT_GT(saved / static_cast<double>(lessons), 0.3);
}

TEST(EvenkeelTrainer, GivesTheSameModelWhateverTheThreads) {
  Result<Training> one = start(kSmall, 1, 1), two = start(kSmall, 1, 2);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(trained(*one), trained(*two));
}

TEST(EvenkeelTrainer, GivesAnotherModelForAnotherSeed) {
  Result<Training> one = start(kSmall, 1), two = start(kSmall, 2);
  ASSERT_TRUE(one && two);
  EXPECT_NE(trained(*one), trained(*two));
}

TEST(EvenkeelTrainer, GoesOnFromACheckpointAsIfItHadNeverStopped) {
  Result<Training> whole = start(kSmall), first = start(kSmall), second = start(kSmall);
  ASSERT_TRUE(whole && first && second);
  first->trainer->advance();
  first->trainer->advance();
  ASSERT_TRUE(second->trainer->restore(first->trainer->state()));
  EXPECT_EQ(second->trainer->done(), 2U);
  EXPECT_EQ(trained(*whole), trained(*second));
}

TEST(EvenkeelTrainer, RefusesACheckpointThatIsNotItsOwn) {
  Result<Training> small = start(kSmall), wide = start(std::string(kSmall) + "passes: 1\n");
  ASSERT_TRUE(small && wide);
  EXPECT_FALSE(small->trainer->restore("no state"));
  Result<Training> wider = start("hidden: 16\nrounds: 3\nworlds: 1\nlessons: 4\nbatch: 2\n");
  ASSERT_TRUE(wider);
  EXPECT_FALSE(small->trainer->restore(wider->trainer->state()));
}

// Short, seeded, and with an outcome: after a few rounds what it adds to horizon costs less than horizon
// alone on worlds it has not seen.
TEST(EvenkeelTrainer, LearnsToSaveMoreThanHorizonInLaboratories) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the shorter trainings above reach all of its code";
#endif
  Result<Training> training = start(
      "rounds: 10\nworlds: 24\nlessons: 60\npasses: 4\nbatch: 64\nhidden: 16\nlaboratory_share: 1\n"
      "most_nodes: 6\nimprove_every: 10\nlearning_rate: 0.004\n");
  ASSERT_TRUE(training);
  double horizon = 0, scorer = 0;
  while (training->trainer->done() < training->trainer->steps()) {
    const CurvePoint point = training->trainer->advance();
    if (training->trainer->done() <= 5) continue;
    for (const Metric& metric : point) {
      if (metric.name == "saved_by_horizon") horizon += metric.value;
      if (metric.name == "saved") scorer += metric.value;
    }
  }
  EXPECT_GT(scorer, horizon);
}

}  // namespace
}  // namespace evenkeel::training
