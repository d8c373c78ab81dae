#include "training/scaling_trainer.h"

#include <gtest/gtest.h>

#include "autoscaling/policies/registry.h"
#include "training/recipes.h"
#include "training/scaling_evaluation.h"

namespace evenkeel::training {
namespace {

constexpr std::string_view kWorld = R"(
apiVersion: evenkeel.io/v1alpha1
kind: ScalingScenario
name: small
description: for tests
level: {percentile: 0.95, bound: 250ms}
services:
  - name: web
    cpu: 500m
    memory: 512MiB
    requests_per_s: 50
    start_up: 10s
    scaler: {min: 1, max: 10, target: 0.7}
workload:
  step: 1m
  peak: 200
  made: {length: 2h, daily: 0.4, noise: {spread: 0.1, memory: 5m}}
)";

Result<Training> start(const std::string& fields, std::uint64_t seed = 1) {
  const YamlFile recipe = *YamlFile::parse(
      "apiVersion: evenkeel.io/v1alpha1\nkind: Recipe\nname: test\nlearner: dscaler\nscenarios: [small]\n" +
          fields,
      "test.yaml");
  TrainingOrder order;
  order.seed = seed;
  order.load_scaling = [](const std::string&) {
    return read_scaling_experiment(*YamlFile::parse(std::string(kWorld), "small.yaml"), {});
  };
  return start_training(recipe, order);
}

const char* const kShort =
    "worlds: 3\nlength: 1h\nepsilon: {start: 1, end: 0.1, decisions: 400}\nvalidation: {worlds: 1, every: "
    "2}\n";

std::unique_ptr<Trainer> trainer(std::uint64_t seed = 1) {
  Result<Training> training = start(kShort, seed);
  EXPECT_TRUE(training) << training.error().message;
  return std::move(training->trainer);
}

TEST(DScalerTrainer, MayBeStoppedAndTakenUpWithoutChangingAByte) {
  const auto whole = trainer();
  while (whole->done() < whole->steps()) whole->advance();
  const auto first = trainer();
  first->advance();
  const auto second = trainer();
  ASSERT_TRUE(second->restore(first->state()));
  while (second->done() < second->steps()) second->advance();
  EXPECT_EQ(learning::serialise(second->model()), learning::serialise(whole->model()));
  EXPECT_EQ(second->state(), whole->state());
}

TEST(DScalerTrainer, MakesAModelThatThePolicyTakes) {
  const auto training = trainer(2);
  const CurvePoint point = training->advance();
  EXPECT_EQ(point.front().name, "reward");
  const learning::Model model = training->model();
  EXPECT_EQ(model.encoding, "dscaler");
  EXPECT_TRUE(autoscaling::make_scaling_policy("dscaler", {}, &model));
  EXPECT_TRUE(learning::parse_model(learning::serialise(model), "dscaler"));
}

TEST(DScalerTrainer, NamesWhatIsWrongWithARecipe) {
  const auto message = [](const std::string& fields) {
    const Result<Training> training = start(fields);
    return training ? std::string("accepted") : training.error().message;
  };
  EXPECT_NE(message("worlds: 0\n").find("worlds"), std::string::npos);
  EXPECT_NE(message("penalty: 3\n").find("penalty"), std::string::npos);
  EXPECT_NE(message("pools: 3\n").find("pools"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::training
