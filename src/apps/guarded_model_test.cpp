// The guard around the models that are built in, as a live profile joins them.
#include <gtest/gtest.h>

#include <limits>

#include "apps/live_stage.h"
#include "apps/model_ranges.h"
#include "apps/models.h"
#include "apps/scenarios.h"
#include "base/file.h"
#include "control/control_loop.h"
#include "simulator/simulated_world.h"

namespace evenkeel::apps {
namespace {

using scheduling::Fallback;
using scheduling::Guarded;

Result<scheduling::PolicySetup> live(const std::string& policy, const scheduling::PolicyModels& models,
                                     const std::string& file = "") {
  kubernetes::SchedulerProfile profile = kubernetes::default_profile();
  profile.scheduler_name = "evenkeel";
  profile.score = {{"Evenkeel", 100}};
  profile.evenkeel.policy = policy;
  profile.evenkeel.model = file;
  kubernetes::SchedulerConfiguration configuration;
  configuration.profiles = {profile};
  return set_up_live_profile(configuration, profile, models, nullptr);
}

// Plays a scenario's world under a live profile, and shows each decision.
template <class Look>
void play(const char* scenario, std::uint64_t seed, scheduling::PolicySetup& setup, Look look) {
  const auto experiment = load_scenario(scenario, {});
  ASSERT_TRUE(experiment) << experiment.error().message;
  const Random random(seed);
  const simulator::WorldPlan plan = simulator::expand(experiment->scenario, seed);
  simulator::SimulatedWorld world(plan, random, false);
  scheduling::SchedulingOptions options = setup.options;
  options.history = experiment->options.history;
  scheduling::Scheduler scheduler(options);
  control::ControlLoop loop(world, scheduler, *setup.policy, random);
  loop.watch_decisions([&](const auto&, std::optional<NodeId> node) { look(node); });
  loop.run();
}

TEST(GuardedModel, TheOneBuiltInDecidesAndNotAlwaysAsHorizonWould) {
  const auto models = load_models({});
  ASSERT_TRUE(models) << models.error().message;
  auto setup = live("evenkeel", *models);
  ASSERT_TRUE(setup) << setup.error().message;
  Guarded& guard = *guard_of(*setup->policy);
  // All pods, with the rule asked beside it.
  guard.set_stage(scheduling::StageSettings{scheduling::Stage::canary, 1, {}});
  std::size_t learned = 0, otherwise = 0;
  play("drs-even", 1, *setup, [&](std::optional<NodeId> node) {
    const scheduling::GuardVerdict& verdict = guard.last();
    if (!verdict.learned) return;
    ++learned;
    EXPECT_EQ(node, verdict.learned_choice);
    otherwise += verdict.compared() && *verdict.learned_choice != *verdict.rule_choice ? 1 : 0;
  });
  EXPECT_GT(learned, 200U) << "of 300 pods, but for those before the first half minute of metrics";
  EXPECT_GE(otherwise, 1U);
  EXPECT_LT(otherwise, learned);
}

// Every way in which a model can be unfit for its policy, and a word of what must be said about it.
struct Damage {
  const char* name;
  void (*damage)(learning::Model&);
  const char* says;
};
constexpr Damage kDamages[] = {
    {"NaN",
     [](learning::Model& model) {
       model.networks.front().parameters[7] = std::numeric_limits<double>::quiet_NaN();
     },
     "parameter 7 of network"},
    {"too few weights", [](learning::Model& model) { model.networks.front().parameters.pop_back(); },
     "parameters, it has"},
    {"another encoding", [](learning::Model& model) { model.encoding = "somebody-else's"; },
     "somebody-else's"},
    {"other inputs",
     [](learning::Model& model) {
       learning::ModelNetwork& network = model.networks.front();
       network.shape.inputs += 1;
       network.parameters.resize(learning::parameter_count(network.shape));
     },
     ""},
};

class UnfitModel : public testing::TestWithParam<const char*> {};

TEST_P(UnfitModel, LeavesTheDecidingToTheRuleAtOnceAndSaysWhy) {
  const std::string policy = GetParam();
  const auto built_in = load_model(policy);
  ASSERT_TRUE(built_in) << built_in.error().message;
  for (const Damage& damage : kDamages) {
    learning::Model model = *built_in;
    damage.damage(model);
    const auto setup = live(policy, {{policy, std::make_shared<const learning::Model>(model)}});
    ASSERT_TRUE(setup) << damage.name << ": " << setup.error().message;
    const scheduling::GuardState& state = guard_of(*setup->policy)->state();
    EXPECT_FALSE(state.healthy) << damage.name;
    EXPECT_EQ(state.reason, Fallback::no_model) << damage.name;
    EXPECT_NE(state.why.find(damage.says), std::string::npos) << damage.name << ": " << state.why;
    EXPECT_FALSE(state.why.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(BuiltIn, UnfitModel,
                         testing::Values("evenkeel", "drs-means", "ppo-lrt", "ppo-lrt-ordered"),
                         [](const auto& policy) {
                           std::string name(policy.param);
                           for (char& letter : name)
                             if (letter == '-') letter = '_';
                           return name;
                         });

TEST(GuardedModel, AFileDamagedOnDiskLeavesTheDecidingToTheRule) {
  const auto model = load_model("evenkeel");
  ASSERT_TRUE(model);
  std::string bytes = learning::serialise(*model);
  bytes[bytes.size() / 2] ^= 1;
  const std::string path = testing::TempDir() + "damaged.ekm";
  ASSERT_TRUE(write_file(path, bytes));
  auto setup = live("evenkeel", {}, path);
  ASSERT_TRUE(setup) << setup.error().message;
  const Guarded& guard = *guard_of(*setup->policy);
  EXPECT_EQ(guard.state().reason, Fallback::no_model);
  EXPECT_NE(guard.state().why.find("damaged"), std::string::npos) << guard.state().why;
  std::size_t decided = 0;
  play("drs-even", 1, *setup, [&](std::optional<NodeId> node) {
    ++decided;
    EXPECT_TRUE(node);
    EXPECT_FALSE(guard.last().learned);
  });
  EXPECT_EQ(decided, 300U) << "nobody waits for a model";
}

TEST(GuardedModel, ANetworkForAnotherNumberOfNodesHasNothingToSay) {
  const auto models = load_models({});
  ASSERT_TRUE(models);
  auto setup = live("ppo-lrt", *models);  // for 4 nodes
  ASSERT_TRUE(setup) << setup.error().message;
  const Guarded& guard = *guard_of(*setup->policy);
  std::size_t silent = 0;
  play("churn", 1, *setup, [&](std::optional<NodeId>) {  // of many more
    EXPECT_FALSE(guard.last().learned);
    silent += guard.last().fallback == Fallback::no_answer ? 1 : 0;
  });
  EXPECT_GT(silent, 0U);
  EXPECT_NE(guard.note().find("another number of nodes"), std::string::npos) << guard.note();
}

TEST(InputRanges, OfTheModelsBuiltInAreThere) {
  for (const std::string& name : built_in_models()) {
    const auto model = load_model(name);
    ASSERT_TRUE(model);
    // Where it scales HPA's rules are the guard.
    if (policy_of_encoding(model->encoding, scheduling::policy_names()).empty()) continue;
    ASSERT_EQ(model->inputs.size(), static_cast<std::size_t>(model->networks.front().shape.inputs)) << name;
    for (std::size_t i = 0; i < model->inputs.size(); ++i)
      EXPECT_EQ(model->inputs[i].input, model->normalisation[i].feature) << name;
  }
}

TEST(InputRanges, AreTheSameWhoeverCountsThemAndChangeNoWeight) {
  const auto built_in = load_model("evenkeel");
  ASSERT_TRUE(built_in);
  const auto shared = std::make_shared<const learning::Model>(*built_in);
  training::SurveyWorlds worlds = worlds_of(*built_in, 1);
  EXPECT_EQ(worlds.experiments.size(), 3U);
  worlds.experiments.resize(1);
  worlds.random_worlds = 1;
  const auto alone = training::survey_inputs({"evenkeel", shared}, worlds);
  worlds.threads = 3;
  const auto together = training::survey_inputs({"evenkeel", shared}, worlds);
  ASSERT_TRUE(alone && together);
  EXPECT_EQ(*alone, *together);
}

}  // namespace
}  // namespace evenkeel::apps
