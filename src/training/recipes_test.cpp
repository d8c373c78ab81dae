#include "training/recipes.h"

#include <gtest/gtest.h>

#include "training/test_trainer.h"

namespace evenkeel::training {
namespace {

TrainingOrder order_of(std::vector<std::string> scenarios = {}) {
  TrainingOrder order;
  order.scenarios = std::move(scenarios);
  order.load_scenario = [](const std::string& name) -> Result<Experiment> {
    if (name == "known") return Experiment{};
    return not_found("no scenario is called '" + name + "'");
  };
  return order;
}

Result<Training> start(const std::string& text, const TrainingOrder& order = order_of(),
                       std::span<const Learner> known = kTestLearners) {
  const Result<YamlFile> file = YamlFile::parse(text, "trial.yaml");
  if (!file) return file.error();
  return start_training(*file, order, known);
}

std::string error_of(const Result<Training>& training) {
  return training ? "no error" : training.error().message;
}

const std::string kGood(kTestRecipe);

TEST(Recipe, NamesItsLearnerWhichReadsTheRest) {
  const auto training = start(kGood);
  ASSERT_TRUE(training) << training.error().message;
  EXPECT_EQ(training->recipe, "trial");
  EXPECT_EQ(training->learner, "test");
  EXPECT_EQ(training->trainer->steps(), 40U);
}

TEST(Recipe, NamesItsWorldsUnlessOthersAreAskedFor) {
  EXPECT_EQ(start(kGood + "scenarios: [known]\n")->scenarios, std::vector<std::string>{"known"});
  EXPECT_EQ(start(kGood + "scenarios: [lost]\n", order_of({"known"}))->scenarios,
            std::vector<std::string>{"known"});
  const std::string lost = error_of(start(kGood + "scenarios: [lost]\n"));
  EXPECT_NE(lost.find("trial.yaml:7"), std::string::npos) << lost;
  EXPECT_NE(lost.find("'lost'"), std::string::npos) << lost;
  EXPECT_NE(error_of(start(kGood, order_of({"gone"}))).find("'gone'"), std::string::npos);
}

TEST(Recipe, IsRefusedByFileLineAndField) {
  const auto refused = [](const std::string& text, std::initializer_list<const char*> words) {
    const std::string error = error_of(start(text));
    for (const char* word : words) EXPECT_NE(error.find(word), std::string::npos) << error;
  };
  refused(kGood + "trys: 7\n", {"trial.yaml:7", "trys"});
  refused("apiVersion: evenkeel.io/v1alpha1\nkind: Recipe\nname: x\nlearner: tst\n",
          {"trial.yaml:4", "learner", "'tst'", "did you mean 'test'"});
  refused("apiVersion: evenkeel.io/v1alpha1\nkind: Recipe\nname: x\n", {"learner"});
  refused("apiVersion: evenkeel.io/v1alpha1\nkind: Scenario\n", {"trial.yaml:2", "Scenario", "Recipe"});
  refused("apiVersion: evenkeel.io/v1alpha1\nkind: Recipe\nname: x\nlearner: test\ntries: many\n",
          {"trial.yaml:5", "tries", "many"});
  refused("apiVersion: evenkeel.io/v1alpha1\nkind: Recipe\nname: x\nlearner: test\ntries: 0\n",
          {"trial.yaml:5", "between 1 and 100000"});
}

}  // namespace
}  // namespace evenkeel::training
