#include "training/drs_trainer.h"

#include <gtest/gtest.h>

#include "scheduling/policies/drs_means.h"
#include "training/recipes.h"
#include "training/reward_probe.h"

namespace evenkeel::training {
namespace {

// DRS's cluster in small: three nodes of different sizes, two kinds of pods that strain different things.
constexpr std::string_view kWorld = R"(
apiVersion: evenkeel.io/v1alpha1
kind: Scenario
name: small
description: for tests
nodes:
  list:
    - {name: a, capacity: {cpu: 2, memory: 4GiB, receive: 100B/s, transmit: 100B/s, read: 100B/s, write: 100B/s}, allocatable: {cpu: 2, memory: 4GiB}}
    - {name: b, capacity: {cpu: 2, memory: 4GiB, receive: 100B/s, transmit: 100B/s, read: 100B/s, write: 100B/s}, allocatable: {cpu: 2, memory: 4GiB}}
    - {name: c, capacity: {cpu: 4, memory: 4GiB, receive: 100B/s, transmit: 100B/s, read: 100B/s, write: 100B/s}, allocatable: {cpu: 4, memory: 4GiB}}
workload:
  kind: apps
  mix: blocks
  arrivals: {pods: 100, pattern: regular, every: 20s}
  apps:
    - {name: cpu, kind: fixed-work, cpu_request: 200m, cpu_limit: 500m, memory_request: 40MB, phases: [{seconds: 120, demand: {cpu: 450m, memory: 100MB}}]}
    - {name: net, kind: fixed-duration, cpu_request: 200m, cpu_limit: 500m, memory_request: 40MB, phases: [{seconds: 120, demand: {cpu: 50m, memory: 50MB, receive: 25B/s, transmit: 25B/s}}]}
metrics: {every: 5s}
measure: {from: 5m, to: last-arrival}
)";

Experiment small_world() { return *read_experiment(*YamlFile::parse(std::string(kWorld), "small.yaml"), {}); }

Result<Training> start(const std::string& fields, std::uint64_t seed = 1, unsigned threads = 1) {
  const YamlFile recipe = *YamlFile::parse(
      "apiVersion: evenkeel.io/v1alpha1\nkind: Recipe\nname: test\nlearner: drs\nscenarios: [small]\n" +
          fields,
      "test.yaml");
  TrainingOrder order;
  order.seed = seed;
  order.threads = threads;
  order.load_scenario = [](const std::string&) { return Result<Experiment>(small_world()); };
  return start_training(recipe, order);
}

std::unique_ptr<Trainer> trainer_of(const std::string& fields, std::uint64_t seed = 1, unsigned threads = 1) {
  Result<Training> training = start(fields, seed, threads);
  EXPECT_TRUE(training) << training.error().message;
  return std::move(training->trainer);
}

std::string message_of(const std::string& fields) {
  const Result<Training> training = start(fields);
  return training ? "accepted" : training.error().message;
}

const char* const kShort = "worlds: 6\nvalidation: {worlds: 1, every: 2}\n";
const char* const kShortMeans =
    "policy: drs-means\ngenerations: 4\npairs: 2\nworlds: 1\nvalidation: {worlds: 1, every: 2}\n";

double mean_imbalance(const Experiment& experiment, const std::string& policy,
                      const scheduling::PolicyModels& models, std::string_view metric = "imbalance") {
  EvaluationOptions options;
  options.policies = {policy};
  options.seeds = {1, 2, 3, 4, 5};
  options.models = models;
  const Result<Evaluation> evaluation = evaluate(experiment, options);
  EXPECT_TRUE(evaluation);
  return spread_of(evaluation->policies.front(), metric).mean;
}

TEST(DrsTrainer, MayBeStoppedAndTakenUpWithoutChangingAByte) {
  for (const std::string& fields : {std::string(kShort), "policy: drs-dueling\n" + std::string(kShort),
                                    "policy: drs-ppo\n" + std::string(kShort),
                                    "policy: drs-sac\n" + std::string(kShort), std::string(kShortMeans)}) {
    const auto whole = trainer_of(fields);
    while (whole->done() < whole->steps()) whole->advance();
    auto first = trainer_of(fields);
    for (int i = 0; i < 3; ++i) first->advance();
    const std::string put_away = first->state();
    first.reset();
    const auto second = trainer_of(fields);
    ASSERT_TRUE(second->restore(put_away)) << fields;
    EXPECT_EQ(second->done(), 3U);
    while (second->done() < second->steps()) second->advance();
    EXPECT_EQ(serialise(second->model()), serialise(whole->model())) << fields;
    EXPECT_EQ(second->state(), whole->state()) << fields;
  }
}

TEST(DrsTrainer, GivesTheSameModelForASeedAndAnotherForAnother) {
  const auto trained = [](std::uint64_t seed, unsigned threads) {
    const auto trainer = trainer_of(kShortMeans, seed, threads);
    while (trainer->done() < trainer->steps()) trainer->advance();
    return serialise(trainer->model());
  };
  EXPECT_EQ(trained(1, 1), trained(1, 3)) << "whatever the threads";
  EXPECT_NE(trained(1, 1), trained(2, 1));
}

TEST(DrsTrainer, LearnsToPlaceBetterThanItBegan) {
  const auto trainer = trainer_of(
      "worlds: 40\npool: 5000\ndiscount: 0\nlearning_rate: 0.003\nlearning_rate_end: 0.0005\n"
      "target_every: 200\nepsilon: {start: 0.3, end: 0.05, worlds: 10}\nvalidation: {worlds: 2, every: "
      "10}\n");
  while (trainer->done() < trainer->steps()) trainer->advance();
  const auto model = std::make_shared<const learning::Model>(trainer->model());
  const Experiment world = small_world();
  const double learnt = mean_imbalance(world, "drs+frozen", {{"drs", model}});
  EXPECT_LT(learnt, 0.85 * mean_imbalance(world, "drs", {})) << "than learning from nothing in each world";
  EXPECT_LT(learnt, 0.85 * mean_imbalance(world, "random", {}));
  EXPECT_EQ(model->encoding, "drs");
  EXPECT_EQ(model->normalisation.size(), 24U);  // three nodes and the pod, six metrics each
  EXPECT_TRUE(model->figures.contains("validation_imbalance"));
}

TEST(DrsTrainer, EvolvesAScorerForTheImbalanceOfMeans) {
  const auto trainer = trainer_of(
      "policy: drs-means\ngenerations: 16\npairs: 6\nworlds: 1\ndeviation: 0.2\nlearning_rate: 0.1\n"
      "validation: {worlds: 2, every: 4}\n");
  while (trainer->done() < trainer->steps()) trainer->advance();
  const auto model = std::make_shared<const learning::Model>(trainer->model());
  const Experiment world = small_world();
  EXPECT_LT(mean_imbalance(world, "drs-means", {{"drs-means", model}}, "imbalance_of_means"),
            0.5 * mean_imbalance(world, "kube-default", {}, "imbalance_of_means"));
}

TEST(DrsTrainer, RefusesAStateThatIsNotItsOwn) {
  auto small = trainer_of(kShort), wide = trainer_of("hidden: [7]\n" + std::string(kShort));
  EXPECT_FALSE(small->restore("nonsense"));
  const Status restored = small->restore(wide->state());
  ASSERT_FALSE(restored);
  EXPECT_NE(restored.error().message.find("'online'"), std::string::npos) << restored.error().message;
  EXPECT_FALSE(trainer_of(kShortMeans)->restore(wide->state()));
}

TEST(DrsTrainer, NamesTheFieldThatIsWrong) {
  EXPECT_NE(message_of("policy: dsr\n").find("policy"), std::string::npos) << message_of("policy: dsr\n");
  EXPECT_NE(message_of("policy: dsr\n").find("drs-dueling"), std::string::npos);
  EXPECT_NE(message_of("hidden: []\n").find("hidden"), std::string::npos);
  EXPECT_NE(message_of("hidden: [2.5]\n").find("hidden"), std::string::npos);
  EXPECT_NE(message_of("discount: 1.5\n").find("discount"), std::string::npos);
  EXPECT_NE(message_of("learning_rate: nan\n").find("learning_rate"), std::string::npos)
      << message_of("learning_rate: nan\n");
  EXPECT_NE(message_of("learning_rat: 1\n").find("learning_rat"), std::string::npos);
  EXPECT_NE(message_of("policy: drs-means\npool: 3\n").find("pool"), std::string::npos);
  EXPECT_EQ(message_of(kShort), "accepted");
}

TEST(DrsTrainer, WantsWorldsOfOneSize) {
  const YamlFile recipe = *YamlFile::parse(
      "apiVersion: evenkeel.io/v1alpha1\nkind: Recipe\nname: t\nlearner: drs\nscenarios: [one, two]\n",
      "t.yaml");
  TrainingOrder order;
  order.load_scenario = [](const std::string& name) {
    Experiment experiment = small_world();
    if (name == "two") experiment.scenario.nodes.pop_back();
    return Result<Experiment>(std::move(experiment));
  };
  const Result<Training> training = start_training(recipe, order);
  ASSERT_FALSE(training);
  EXPECT_NE(training.error().message.find("has 2 nodes"), std::string::npos) << training.error().message;
}

TEST(DrsModel, ForAnotherNumberOfNodesIsRefusedByEvaluate) {
  const auto trainer = trainer_of("worlds: 1\nvalidation: {worlds: 0}\n");
  trainer->advance();
  Experiment larger = small_world();
  larger.scenario.nodes.push_back(larger.scenario.nodes.back());
  larger.scenario.nodes.back().name = "d";
  EvaluationOptions options;
  options.policies = {"drs"};
  options.seeds = {1};
  options.models = {{"drs", std::make_shared<const learning::Model>(trainer->model())}};
  const Result<Evaluation> refused = evaluate(larger, options);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("model 'drs' is for 3 nodes, this cluster has 4"), std::string::npos)
      << refused.error().message;
}

TEST(RewardProbe, ChangesNoDecisionAndSeesOneRewardAPod) {
  const Experiment world = small_world();
  scheduling::Drs bare(*scheduling::drs_settings("drs")), inner(*scheduling::drs_settings("drs"));
  RewardProbe probe(inner);
  const RunResult alone = run_world(world, 1, Random(1), bare),
                  watched = run_world(world, 1, Random(1), probe);
  EXPECT_EQ(alone["imbalance"], watched["imbalance"]);
  EXPECT_EQ(probe.rewards().size(), 100U);
  EXPECT_EQ(inner.progress().rewards, 100U);
  EXPECT_NEAR(probe.rewards().back(), inner.progress().last_reward, 1e-9);
}

TEST(DrsEpochs, AreOnePerPod) { EXPECT_EQ(run_drs_epochs(small_world(), 1), 100U); }

}  // namespace
}  // namespace evenkeel::training
