#include "training/ppo_lrt_trainer.h"

#include <gtest/gtest.h>

#include "control/control_loop.h"
#include "scheduling/policies/ppo_lrt.h"
#include "simulator/simulated_world.h"
#include "training/ppo_lrt_course.h"

namespace evenkeel::training {
namespace {

// Two nodes, one four times the other, and tasks of one core: nine of ten belong on the large one.
constexpr std::string_view kWorld = R"(
apiVersion: evenkeel.io/v1alpha1
kind: Scenario
name: small
nodes:
  list:
    - {name: large, capacity: {cpu: 8, memory: 16GiB}, base: {cpu: 400m, memory: 1GiB}}
    - {name: little, capacity: {cpu: 2, memory: 4GiB}, base: {cpu: 1500m, memory: 2GiB}}
workload:
  kind: apps
  arrivals: {pods: 100, pattern: at-once}
  apps:
    - name: nginx
      phases: [{seconds: [1s, 20s], demand: {cpu: 1, memory: 60MB}}]
metrics: {every: 5s}
kubelet: {start_delay: 1s}
)";

Experiment experiment(std::string_view text = kWorld) {
  Result<Experiment> read = read_experiment(*YamlFile::parse(text, "small.yaml"), {});
  EXPECT_TRUE(read) << read.error().message;
  return *read;
}

std::unique_ptr<Trainer> trainer(std::string_view recipe, std::uint64_t seed = 1) {
  const YamlFile file = *YamlFile::parse(recipe, "recipe.yaml");
  YamlReader reader(file);
  TrainerInput input;
  input.experiments.push_back(experiment());
  input.seed = seed;
  Result<std::unique_ptr<Trainer>> made = make_ppo_lrt_trainer(reader, std::move(input));
  EXPECT_FALSE(reader.finish());
  EXPECT_TRUE(made);
  return *std::move(made);
}

double reward_of(const CurvePoint& point) { return point.front().value; }

std::vector<double> weights(const Trainer& trainer) { return trainer.model().networks.front().parameters; }

TEST(PpoLrtTrainer, UpdatesEveryThirtyActions) {
  const auto training = trainer("{episodes: 4}");
  const std::vector<double> before = weights(*training);
  training->advance();
  training->advance();
  EXPECT_EQ(weights(*training), before) << "twenty actions so far";
  training->advance();
  EXPECT_NE(weights(*training), before);
}

TEST(PpoLrtTrainer, TakesUpATrainingAsIfItHadNeverStopped) {
  const auto whole = trainer("{episodes: 8}"), first = trainer("{episodes: 8}");
  for (int i = 0; i < 8; ++i) whole->advance();
  for (int i = 0; i < 4; ++i) first->advance();  // between two updates: steps are waiting
  const std::string put_away = first->state();
  const auto second = trainer("{episodes: 8}");
  ASSERT_TRUE(second->restore(put_away));
  EXPECT_EQ(second->done(), 4U);
  EXPECT_EQ(second->state(), put_away);
  while (second->done() < second->steps()) second->advance();
  EXPECT_EQ(second->state(), whole->state());
  EXPECT_EQ(learning::serialise(second->model()), learning::serialise(whole->model()));
}

TEST(PpoLrtTrainer, RefusesAStateThatIsNotItsOwn) {
  const auto narrow = trainer("{episodes: 2, ppo: {hidden: [8]}}"), wide = trainer("{episodes: 2}");
  narrow->advance();
  EXPECT_FALSE(wide->restore(narrow->state()));
  EXPECT_FALSE(wide->restore("no state at all"));
  EXPECT_EQ(wide->done(), 0U) << "a refused state changes nothing";
  const auto longer = trainer("{episodes: 3}"), shorter = trainer("{episodes: 2}");
  for (int i = 0; i < 3; ++i) longer->advance();
  EXPECT_NE(shorter->restore(longer->state()).error().message.find("expected at most 2"), std::string::npos);
}

TEST(PpoLrtTrainer, LearnsToPreferTheNodeWithRoom) {
  // Quicker than the paper's rates: what takes 300 episodes there must show in 60 here.
  const auto training = trainer("{episodes: 60, ppo: {actor_rate: 3e-3}}");
  double early = 0, late = 0;
  for (int i = 0; i < 60; ++i) {
    const double reward = reward_of(training->advance());
    if (i < 15) early += reward / 15;
    if (i >= 45) late += reward / 15;
  }
  EXPECT_GT(late, early + 0.1);

  const learning::Model model = training->model();
  EXPECT_EQ(model.encoding, "ppo-lrt/2 nodes");
  EXPECT_EQ(model.training_worlds, std::vector<std::string>{"small"});
  const auto policy = scheduling::make_ppo_lrt(&model);
  ASSERT_TRUE(policy);
  simulator::WorldPlan plan = simulator::expand(experiment().scenario, 99);
  plan.pods.resize(10);
  simulator::SimulatedWorld world(plan, Random(99), false);
  scheduling::Scheduler scheduler(experiment().options);
  control::ControlLoop loop(world, scheduler, **policy, Random(99));
  int on_large = 0;
  loop.watch_decisions(
      [&](const auto&, std::optional<NodeId> node) { on_large += node == NodeId{0} ? 1 : 0; });
  loop.run();
  EXPECT_GE(on_large, 8) << "of ten that came at once";
}

// A policy that clears whatever it may, in a world of a hundred tasks: all come to their end.
TEST(PpoLrtLoadControl, QueuesAgainWhatItClearsAndStarvesNobody) {
  const simulator::WorldPlan plan = simulator::expand(experiment().scenario, 5);
  auto actor = std::make_shared<learning::Network>(learning::NetworkShape{7, {}, 4});
  const auto biases = actor->parameters().subspan(actor->layers().back().biases);
  biases[1] = biases[3] = 9;
  scheduling::PpoLrt policy({}, actor);
  simulator::SimulatedWorld world(plan, Random(5), false);
  scheduling::Scheduler scheduler(experiment().options);
  control::ControlLoop loop(world, scheduler, policy, Random(5));
  std::size_t evictions = 0;
  loop.watch_actions([&](const Action& action, Time) {
    if (const auto* evict = std::get_if<EvictPod>(&action)) {
      ++evictions;
      EXPECT_FALSE(evict->destination);
    }
  });
  loop.run();
  EXPECT_GT(evictions, 0U);
  EXPECT_EQ(world.counts().moves, evictions);
  EXPECT_EQ(world.counts().finished, 100U);
  EXPECT_EQ(world.waiting(), 0U);
}

TEST(PpoLrtCourse, PaysAnotherPolicyByTheSameMeasure) {
  PpoLrtRecipe recipe;
  const PpoLrtCourse course(recipe, {experiment()}, 1);
  const auto kube = course.judge_other(0, "kube-default");
  ASSERT_EQ(kube.size(), 10U);
  for (const scheduling::PpoLrtVerdict& verdict : kube) {
    EXPECT_GT(verdict.response_s, 0);
    EXPECT_LT(verdict.reward, 2 * recipe.policy.reward.alpha / recipe.policy.reward.least_sigma);
  }
  EXPECT_EQ(course.judge_other(0, "kube-default").front().reward, kube.front().reward);
}

TEST(PpoLrtTrainer, SaysWhatIsWrongWithARecipe) {
  const auto error_of = [](std::string_view recipe, std::vector<Experiment> worlds) {
    const YamlFile file = *YamlFile::parse(recipe, "recipe.yaml");
    YamlReader reader(file);
    TrainerInput input;
    input.experiments = std::move(worlds);
    const auto made = make_ppo_lrt_trainer(reader, std::move(input));
    if (const auto bad = reader.finish()) return bad->message;
    return made ? "no error" : made.error().message;
  };
  EXPECT_NE(error_of("{episodes: 0}", {experiment()}).find("episodes"), std::string::npos);
  EXPECT_NE(error_of("{reward: {least_sigma: 0}}", {experiment()}).find("reward.least_sigma"),
            std::string::npos);
  EXPECT_NE(error_of("{ppo: {hidden: [3.5]}}", {experiment()}).find("whole numbers"), std::string::npos);
  EXPECT_NE(error_of("{epsilon: 1}", {experiment()}).find("epsilon"), std::string::npos);
  EXPECT_NE(error_of("{episodes: 1}", {}).find("scenarios"), std::string::npos);
  Experiment larger = experiment();
  larger.scenario.nodes[0].count = 2;
  EXPECT_NE(error_of("{episodes: 1}", {experiment(), larger}).find("expected 2 nodes"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::training
