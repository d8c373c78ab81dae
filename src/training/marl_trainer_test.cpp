#include "training/marl_trainer.h"

#include <gtest/gtest.h>

#include "scheduling/policies/marl.h"
#include "training/recipes.h"

namespace evenkeel::training {
namespace {

std::string recipe_text(const std::string& more) {
  return "apiVersion: evenkeel.io/v1alpha1\nkind: Recipe\nname: test\nlearner: marl\nworlds: 3\n"
         "most_nodes: 5\nlaboratory_share: 1\ncoming_and_going: 0.5\nvalidation: {worlds: 0}\n" +
         more;
}

Result<Training> start(const std::string& more) {
  return start_training(*YamlFile::parse(recipe_text(more), "test.yaml"), {});
}

class MarlTraining : public testing::TestWithParam<const char*> {};

TEST_P(MarlTraining, IsTheSameWhetherOrNotItWasInterrupted) {
  Result<Training> whole = start(GetParam()), first = start(GetParam()), second = start(GetParam());
  ASSERT_TRUE(whole) << whole.error().message;
  for (int i = 0; i < 3; ++i) whole->trainer->advance();
  first->trainer->advance();
  ASSERT_TRUE(second->trainer->restore(first->trainer->state()));
  for (int i = 0; i < 2; ++i) second->trainer->advance();
  EXPECT_EQ(learning::serialise(whole->trainer->model()), learning::serialise(second->trainer->model()));
}

TEST_P(MarlTraining, MakesAModelThatItsPolicyTakes) {
  Result<Training> training = start(GetParam());
  ASSERT_TRUE(training);
  training->trainer->advance();
  const learning::Model model = training->trainer->model();
  EXPECT_TRUE(scheduling::Marl::from_model(*scheduling::marl_settings("marl-shared"), model));
}

INSTANTIATE_TEST_SUITE_P(Ways, MarlTraining,
                         testing::Values("way: pooled\ntalkers: 0.2\ndelay_weight: 1\n", "way: decomposed\n"),
                         [](const auto& which) { return which.index == 0 ? "pooled" : "decomposed"; });

TEST(MarlRecipe, SaysWhatIsWrong) {
  const Result<Training> alone = start("way: independent\n");
  ASSERT_FALSE(alone);
  EXPECT_NE(alone.error().message.find("way"), std::string::npos);
  EXPECT_FALSE(start("moments: [20, 10]\n"));
  const Result<Training> nowhere = start("policy: marl\n");
  ASSERT_FALSE(nowhere);
  EXPECT_NE(nowhere.error().message.find("scenario"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::training
