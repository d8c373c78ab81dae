// `evenkeel model ranges` and `alarms`: what a model sees in its worlds, and how often a guard would mind.
#include "apps/model_ranges.h"

#include <unistd.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/command.h"
#include "apps/models.h"
#include "apps/scenarios.h"
#include "base/file.h"
#include "reporting/number_format.h"

namespace evenkeel::apps {
namespace {

using Json = nlohmann::ordered_json;
using reporting::Align;

constexpr std::uint64_t kSurveySeed = 900'001;  // away from those that evaluations count from
constexpr std::size_t kTrainedWorlds = 8;       // of each scenario, after a training

struct Arguments {
  std::string model, out;
  std::vector<std::string> scenarios;
  std::size_t worlds = 20, random_worlds = 0;
  std::uint64_t seed = 1;
  double share = 1;
  scheduling::GuardOptions guard;
  bool json = false;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
};

int fail(const std::string& job, const Error& error) {
  std::cerr << "evenkeel model " << job << ": " << error.message << '\n';
  return error.kind == Error::Kind::unavailable ? kFailed : kBadInput;
}

struct Loaded {
  training::SurveyedModel surveyed;
  training::SurveyWorlds worlds;
};

Result<Loaded> load(const Arguments& arguments) {
  Result<learning::Model> model = load_model(arguments.model);
  if (!model) return model.error();
  auto shared = std::make_shared<const learning::Model>(*std::move(model));
  const Result<std::string> policy = check_placing_model("", shared, arguments.model);
  if (!policy) return policy.error();
  Loaded loaded{{*policy, shared}, worlds_of(*shared, arguments.worlds)};
  if (!arguments.scenarios.empty() || arguments.random_worlds > 0) {
    loaded.worlds.experiments.clear();
    loaded.worlds.random_worlds = arguments.random_worlds;
  }
  for (const std::string& name : arguments.scenarios) {
    auto experiment = load_scenario(name, {});
    if (!experiment) return experiment.error();
    loaded.worlds.experiments.push_back(*std::move(experiment));
  }
  if (loaded.worlds.experiments.empty() && loaded.worlds.random_worlds == 0)
    return invalid("the model names no worlds of this program: give --scenario");
  loaded.worlds.first_seed = arguments.seed;
  loaded.worlds.threads = arguments.threads;
  return loaded;
}

int write_ranges(const Arguments& arguments) {
  const Result<Loaded> loaded = load(arguments);
  if (!loaded) return fail("ranges", loaded.error());
  auto ranges = training::survey_inputs(loaded->surveyed, loaded->worlds);
  if (!ranges) return fail("ranges", ranges.error());
  learning::Model model = *loaded->surveyed.model;
  model.inputs = *std::move(ranges);
  if (!arguments.out.empty()) {
    if (const Status written = write_file(arguments.out, learning::serialise(model)); !written)
      return fail("ranges", unavailable("cannot write " + written.error().message));
    std::cerr << "written to " << arguments.out << ", weights unchanged\n";
    return kDone;
  }
  std::cout << reporting::render_text_table(input_table(model), reporting::text_style_for(STDOUT_FILENO));
  return kDone;
}

Json json_of(const training::GuardTrial& trial) {
  Json reasons = Json::object();
  for (std::size_t i = 1; i < scheduling::kFallbacks; ++i)
    reasons[std::string(name_of(static_cast<scheduling::Fallback>(i)))] = {
        {"falls", trial.by_reason[i].falls},
        {"worlds", trial.by_reason[i].worlds},
        {"decisions", trial.by_reason[i].decisions}};
  return {{"worlds", trial.worlds},
          {"hours", trial.hours},
          {"decisions", trial.decisions},
          {"by_learned", trial.by_learned},
          {"fallbacks", std::move(reasons)}};
}

void print(const training::GuardTrial& trial) {
  reporting::TextTable table{
      {{"fallback", Align::left}, {"falls"}, {"worlds with one"}, {"decisions by the rule"}}, {}, {}};
  for (std::size_t i = 1; i < scheduling::kFallbacks; ++i) {
    const training::GuardTrial::Reason& reason = trial.by_reason[i];
    if (reason.falls + reason.decisions == 0) continue;
    table.rows.push_back({{std::string(name_of(static_cast<scheduling::Fallback>(i)))},
                          {std::to_string(reason.falls)},
                          {std::to_string(reason.worlds)},
                          {std::to_string(reason.decisions)}});
  }
  table.notes.push_back(std::to_string(trial.worlds) + " worlds, " + reporting::format_number(trial.hours) +
                        " hours in them, " + std::to_string(trial.decisions) + " decisions, " +
                        std::to_string(trial.by_learned) + " by the model");
  std::cout << reporting::render_text_table(table, reporting::text_style_for(STDOUT_FILENO));
}

int count_alarms(const Arguments& arguments) {
  const Result<Loaded> loaded = load(arguments);
  if (!loaded) return fail("alarms", loaded.error());
  scheduling::StageSettings stage;
  if (arguments.share < 1) {
    stage.stage = scheduling::Stage::canary;
    stage.share = arguments.share;
  }
  const auto trial = training::try_guard(loaded->surveyed, loaded->worlds, stage, arguments.guard);
  if (!trial) return fail("alarms", trial.error());
  if (arguments.json)
    std::cout << json_of(*trial).dump(2) << '\n';
  else
    print(*trial);
  return kDone;
}

}  // namespace

training::SurveyWorlds worlds_of(const learning::Model& model, std::size_t worlds) {
  training::SurveyWorlds found;
  found.worlds = worlds;
  found.first_seed = kSurveySeed;
  for (const std::string& described : model.training_worlds) {
    if (described.starts_with("random worlds")) {
      found.random_worlds = 3 * worlds;
      continue;
    }
    // "drs-even with seeds from 2000001 on"
    auto experiment = load_scenario(described.substr(0, described.find(' ')), {});
    if (experiment) found.experiments.push_back(*std::move(experiment));
  }
  return found;
}

bool add_input_ranges(learning::Model& model, unsigned threads) {
  auto shared = std::make_shared<const learning::Model>(model);
  const Result<std::string> policy = check_placing_model("", shared, "");
  if (!policy) return false;
  training::SurveyWorlds worlds = worlds_of(model, kTrainedWorlds);
  worlds.threads = threads;
  auto ranges = training::survey_inputs({*policy, shared}, worlds);
  if (!ranges) return false;
  model.inputs = *std::move(ranges);
  return true;
}

reporting::TextTable input_table(const learning::Model& model) {
  reporting::TextTable table{
      {{"input in training", Align::left}, {"lowest"}, {"0.5 %"}, {"99.5 %"}, {"highest"}}, {}, {}};
  for (const learning::InputRange& range : model.inputs)
    table.rows.push_back({{range.input},
                          {reporting::format_number(range.lowest)},
                          {reporting::format_number(range.low)},
                          {reporting::format_number(range.high)},
                          {reporting::format_number(range.highest)}});
  return table;
}

void add_model_ranges(CLI::App& model, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  const auto add = [&](const char* name, const char* about, int (*job)(const Arguments&)) {
    CLI::App* part = model.add_subcommand(name, about);
    part->add_option("model", arguments->model, "File, or the name of one built in")->required();
    part->add_option("--scenario", arguments->scenarios,
                     "World, by name or path; may be repeated (those it was trained on)")
        ->take_all()
        ->allow_extra_args(false);
    part->add_option("--worlds", arguments->worlds, "Of each scenario (20)")->check(CLI::Range(1, 100000));
    part->add_option("--random-worlds", arguments->random_worlds, "Drawn at random, beside them (0)");
    part->add_option("--seed", arguments->seed, "Of the first world (1)");
    part->add_option("--threads", arguments->threads, "Worlds side by side; changes no figure")
        ->check(CLI::Range(1, 256));
    part->callback([arguments, job, &exit_code] { exit_code = job(*arguments); });
    return part;
  };
  CLI::App* ranges =
      add("ranges", "In which ranges its inputs lie, for a guard to tell what it was not trained on",
          write_ranges);
  ranges->add_option("--out", arguments->out, "Write the model with them to this file (.ekm)");
  ranges->footer("Example:\n  evenkeel model ranges evenkeel --seed 900001 --out evenkeel.ekm");
  CLI::App* alarms = add("alarms", "How often a guard takes the deciding from it, and why", count_alarms);
  alarms->add_option("--share", arguments->share, "Of pods it decides about, the rule about the others (1)")
      ->check(CLI::Range(0.0, 1.0));
  alarms
      ->add_option("--most-outside", arguments->guard.most_outside,
                   "Share of inputs beyond the trained ranges that counts as drift")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  alarms
      ->add_option("--sure", arguments->guard.reward.sure,
                   "Standard errors by which it must do worse than the rule")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  alarms->add_flag("--json", arguments->json, "Print as JSON");
  alarms->footer("Example:\n  evenkeel model alarms evenkeel --scenario churn --share 0.5");
}

}  // namespace evenkeel::apps
