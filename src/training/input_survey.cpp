#include "training/input_survey.h"

#include <functional>
#include <utility>

#include "control/control_loop.h"
#include "learning/model_file.h"
#include "scheduling/policies/horizon.h"
#include "scheduling/policies/input_check.h"
#include "simulator/simulated_world.h"
#include "training/in_parallel.h"

namespace evenkeel::training {
namespace {

using namespace std::chrono_literals;
using scheduling::PolicySetup;

std::size_t count_of(const SurveyWorlds& worlds) {
  return worlds.experiments.size() * worlds.worlds + worlds.random_worlds;
}

RandomWorld world_of(const SurveyWorlds& worlds, std::size_t index, std::uint64_t seed) {
  const std::size_t of_scenarios = worlds.experiments.size() * worlds.worlds;
  if (index >= of_scenarios) return make_random_world(worlds.random, seed);
  return make_scenario_world(worlds.experiments[index / worlds.worlds], seed);
}

// As a live profile has it: nothing is learnt, and a sample of half a minute ago is not believed.
Result<PolicySetup> set_up(const SurveyedModel& surveyed, scheduling::SchedulingOptions options) {
  options.frozen = true;
  options.stale_after = 30s;
  return scheduling::set_up_policy(surveyed.policy, options, {{surveyed.policy, surveyed.model}});
}

using Watch = std::function<void(const scheduling::PlacementRequest&)>;

double play(const RandomWorld& drawn, PolicySetup& setup, std::uint64_t seed, const Watch& watch) {
  const Random random(seed);
  simulator::SimulatedWorld world(drawn.plan, random, false);
  scheduling::Scheduler scheduler(setup.options);
  control::ControlLoop loop(world, scheduler, *setup.policy, random);
  loop.watch_decisions(
      [&](const scheduling::PlacementRequest& request, std::optional<NodeId>) { watch(request); });
  loop.run();
  return to_seconds(world.now().time_since_epoch()) / 3600;
}

void for_each_world(const SurveyWorlds& worlds, const std::function<void(std::size_t, std::uint64_t)>& job) {
  in_parallel(count_of(worlds), worlds.threads, [&](std::size_t i) { job(i, worlds.first_seed + i); });
}

}  // namespace

Result<std::vector<learning::InputRange>> survey_inputs(const SurveyedModel& surveyed,
                                                        const SurveyWorlds& worlds) {
  const Result<PolicySetup> first = set_up(surveyed, {});
  if (!first) return first.error();
  const learning::Model& model = *surveyed.model;
  if (!dynamic_cast<scheduling::ShowsInputs*>(first->policy.get()))
    return invalid("policy '" + surveyed.policy + "' does not show what its network sees");
  const auto inputs = static_cast<std::size_t>(model.networks.front().shape.inputs);
  if (model.normalisation.size() != inputs)
    return invalid("the model names " + std::to_string(model.normalisation.size()) + " features of " +
                   std::to_string(inputs) + " inputs");

  std::vector<learning::InputSurvey> seen(count_of(worlds), learning::InputSurvey(inputs));
  for_each_world(worlds, [&](std::size_t i, std::uint64_t seed) {
    const RandomWorld drawn = world_of(worlds, i, seed);
    Result<PolicySetup> setup = set_up(surveyed, drawn.options);
    dynamic_cast<scheduling::ShowsInputs&>(*setup->policy).inputs().record_into(&seen[i]);
    play(drawn, *setup, seed, [](const auto&) {});
  });
  learning::InputSurvey all(inputs);
  for (const learning::InputSurvey& each : seen) all.merge(each);
  for (std::size_t i = 0; i < inputs; ++i)
    if (all.seen(i) == 0)
      return invalid("policy '" + surveyed.policy + "' never showed its network " +
                     model.normalisation[i].feature + " in these worlds: are they of its number of nodes?");
  std::vector<std::string> names;
  for (const learning::FeatureRange& feature : model.normalisation) names.push_back(feature.feature);
  return all.ranges(names);
}

Result<GuardTrial> try_guard(const SurveyedModel& surveyed, const SurveyWorlds& worlds,
                             const scheduling::StageSettings& stage,
                             const scheduling::GuardOptions& options) {
  if (const Result<PolicySetup> first = set_up(surveyed, {}); !first) return first.error();
  std::vector<GuardTrial> trials(count_of(worlds));
  for_each_world(worlds, [&](std::size_t i, std::uint64_t seed) {
    const RandomWorld drawn = world_of(worlds, i, seed);
    Result<PolicySetup> setup = set_up(surveyed, drawn.options);
    auto guarded = std::make_unique<scheduling::Guarded>(
        scheduling::Guarded::Parts{surveyed.policy, "horizon", std::move(setup->policy),
                                   std::make_unique<scheduling::Horizon>(), ""},
        options);
    guarded->set_stage(stage);
    const scheduling::GuardState& state = guarded->state();
    GuardTrial& trial = trials[i];
    setup->policy = std::move(guarded);
    std::uint64_t falls = 0;
    trial.hours = play(drawn, *setup, seed, [&](const auto&) {
      ++trial.decisions;
      if (std::exchange(falls, state.falls) != state.falls && !state.healthy)
        ++trial.by_reason[static_cast<std::size_t>(state.reason)].falls;
    });
    trial.by_learned = state.by_learned;
    for (std::size_t reason = 0; reason < scheduling::kFallbacks; ++reason)
      trial.by_reason[reason].decisions = state.instead[reason];
  });
  GuardTrial all;
  for (const GuardTrial& trial : trials) {
    ++all.worlds;
    all.hours += trial.hours;
    all.decisions += trial.decisions;
    all.by_learned += trial.by_learned;
    for (std::size_t reason = 0; reason < scheduling::kFallbacks; ++reason) {
      all.by_reason[reason].falls += trial.by_reason[reason].falls;
      all.by_reason[reason].decisions += trial.by_reason[reason].decisions;
      all.by_reason[reason].worlds += trial.by_reason[reason].falls > 0 ? 1 : 0;
    }
  }
  return all;
}

}  // namespace evenkeel::training
