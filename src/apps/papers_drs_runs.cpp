#include "apps/papers_drs_runs.h"

#include <cmath>

#include "apps/scenarios.h"
#include "control/control_loop.h"
#include "embedded/recipes.h"
#include "reporting/number_format.h"
#include "training/in_parallel.h"
#include "training/recipes.h"
#include "training/references.h"
#include "training/reward_probe.h"

namespace evenkeel::apps {
namespace {

using training::RunResult;
using training::Spread;

constexpr std::chrono::seconds kStableFrom{250 * 20};  // a pod every 20 s

Spread spread(const std::vector<double>& values) {
  Spread result;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) result.mean += value / n;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.sd = n > 1 ? std::sqrt(squares / (n - 1)) : 0;
  return result;
}

Spread metric_of(const std::vector<RunResult>& runs, std::string_view metric) {
  std::vector<double> values;
  for (const RunResult& run : runs) values.push_back(run[metric]);
  return spread(values);
}

// Measures one run over two windows at once is more than the simulator does; a run is cheap, so it is run
// twice.
RunResult run(const training::Experiment& experiment, const DrsRunOrder& order, std::uint64_t seed,
              const scheduling::PolicyModels& models, std::vector<double>* rewards) {
  const simulator::WorldPlan plan = simulator::expand(experiment.scenario, seed);
  const Random random(seed);
  training::PreparedPolicy prepared =
      training::prepare_policy(order.make ? "random" : order.policy, experiment.options, plan, seed, models);
  if (order.make) prepared.setup.policy = order.make();
  simulator::SimulatedWorld world(plan, random, false);
  scheduling::Scheduler scheduler(prepared.setup.options);
  prepared.attach(world, scheduler);
  training::RewardProbe probe(*prepared.setup.policy);
  control::ControlLoop loop(world, scheduler, probe, random);
  loop.run();
  if (rewards) *rewards = probe.rewards();
  RunResult result;
  result.metrics = training::metrics_of(world, plan.pods.size());
  return result;
}

}  // namespace

Spread DrsRuns::mean_reward(std::size_t from) const {
  std::vector<double> means;
  for (const std::vector<double>& run : rewards) {
    double sum = 0, n = 0;
    for (std::size_t epoch = from; epoch < run.size(); ++epoch, n += 1) sum += run[epoch];
    means.push_back(n > 0 ? sum / n : std::nan(""));
  }
  return spread(means);
}

Spread DrsRuns::late_metric(std::string_view metric) const { return metric_of(late, metric); }
Spread DrsRuns::whole_metric(std::string_view metric) const { return metric_of(whole, metric); }

std::uint64_t seeds_of(const PaperSettings& settings) {
  return settings.seeds > 0 ? settings.seeds : settings.quick ? 1 : 5;
}

Result<std::vector<DrsRuns>> run_drs(const std::vector<DrsRunOrder>& orders, const PaperSettings& settings,
                                     const scheduling::PolicyModels& models) {
  std::vector<training::Experiment> experiments;
  for (const DrsRunOrder& order : orders) {
    Result<training::Experiment> experiment = load_scenario(std::string(order.workload), {});
    if (!experiment) return experiment.error();
    if (!order.make)
      if (const Status known = training::check_policy(order.policy, experiment->options, models); !known)
        return known.error();
    experiments.push_back(*std::move(experiment));
  }
  const std::uint64_t seeds = seeds_of(settings);
  std::vector<DrsRuns> all(orders.size());
  for (std::size_t i = 0; i < orders.size(); ++i) {
    all[i].rewards.resize(seeds);
    all[i].whole.resize(seeds);
    if (orders[i].late) all[i].late.resize(seeds);
  }
  training::in_parallel(orders.size() * seeds, settings.threads, [&](std::size_t job) {
    const std::size_t i = job / seeds, s = job % seeds;
    all[i].whole[s] = run(experiments[i], orders[i], settings.seed + s, models, &all[i].rewards[s]);
    if (!orders[i].late) return;
    training::Experiment late = experiments[i];
    late.scenario.measure_from = kStableFrom;
    all[i].late[s] = run(late, orders[i], settings.seed + s, models, nullptr);
  });
  return all;
}

Result<std::shared_ptr<const learning::Model>> pretrain_drs(const std::string& policy,
                                                            const std::vector<std::string>& overrides,
                                                            const PaperSettings& settings) {
  for (const EmbeddedFile& file : embedded::recipes::files()) {
    if (file.name != "drs.yaml") continue;
    Result<YamlFile> recipe = YamlFile::parse(file.text, "recipes/drs.yaml");
    if (!recipe) return recipe.error();
    std::vector<std::string> all = {"policy=" + policy};
    if (settings.quick) all.insert(all.end(), {"worlds=6", "validation.worlds=1", "validation.every=6"});
    all.insert(all.end(), overrides.begin(), overrides.end());
    for (const std::string& assignment : all)
      if (const Status set = recipe->set(assignment); !set) return set.error();
    training::TrainingOrder order;
    order.seed = settings.seed;
    order.load_scenario = [](const std::string& name) { return load_scenario(name, {}); };
    Result<training::Training> training = training::start_training(*recipe, order);
    if (!training) return training.error();
    training::Trainer& trainer = *training->trainer;
    while (trainer.done() < trainer.steps()) trainer.advance();
    return std::shared_ptr<const learning::Model>(std::make_shared<const learning::Model>(trainer.model()));
  }
  return not_found("recipe 'drs' is not built in");
}

Result<scheduling::PolicyModels> pretrain_all(const std::vector<std::string>& policies,
                                              const PaperSettings& settings) {
  std::vector<std::optional<Result<std::shared_ptr<const learning::Model>>>> trained(policies.size());
  training::in_parallel(policies.size(), settings.threads,
                        [&](std::size_t i) { trained[i] = pretrain_drs(policies[i], {}, settings); });
  scheduling::PolicyModels models;
  for (std::size_t i = 0; i < policies.size(); ++i) {
    if (!*trained[i]) return trained[i]->error();
    models[policies[i]] = **trained[i];
  }
  return models;
}

scheduling::PolicyModels means_model_of(const PaperSettings& settings) {
  const auto found = settings.models.find("drs-means");
  if (found == settings.models.end()) return {};
  return {{"drs-means", found->second}};
}

nlohmann::ordered_json json_of(const Spread& spread) { return {{"mean", spread.mean}, {"sd", spread.sd}}; }

std::string text_of(const Spread& spread, double scale) {
  return reporting::format_mean_sd(scale * spread.mean, scale * spread.sd);
}

reporting::TextTable table_of(std::vector<std::string> headers, std::size_t names) {
  reporting::TextTable table;
  for (std::size_t i = 0; i < headers.size(); ++i)
    table.columns.push_back(
        {std::move(headers[i]), i < names ? reporting::Align::left : reporting::Align::right});
  return table;
}

void add_row(reporting::TextTable& table, std::vector<std::string> cells) {
  std::vector<reporting::TextCell>& row = table.rows.emplace_back();
  for (std::string& cell : cells) row.push_back({std::move(cell)});
}

}  // namespace evenkeel::apps
