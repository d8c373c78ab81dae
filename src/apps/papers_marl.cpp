// Chapter 5 of the MARL thesis (seed 002), made again, and what it could not do: hundreds of agents, hours,
// nodes that come and go.
#include <algorithm>
#include <cmath>

#include "apps/papers_drs_runs.h"
#include "apps/recipes.h"
#include "apps/scenarios.h"
#include "control/control_loop.h"
#include "reporting/number_format.h"
#include "scheduling/policies/marl.h"
#include "training/in_parallel.h"
#include "training/recipes.h"

namespace evenkeel::apps {
namespace {

using reporting::format_number;
using reporting::TextTable;
using scheduling::Marl;
using scheduling::MarlSettings;
using training::RunResult;
using training::Spread;
using Json = nlohmann::ordered_json;

std::uint64_t worlds_of(const PaperSettings& settings) {
  return settings.seeds > 0 ? settings.seeds : settings.quick ? 1 : 10;
}

Spread spread_of(const std::vector<double>& values) {
  Spread result;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) result.mean += value / n;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.sd = n > 1 ? std::sqrt(squares / (n - 1)) : 0;
  return result;
}
Spread spread_of(const std::vector<RunResult>& runs, std::string_view metric) {
  std::vector<double> values;
  for (const RunResult& run : runs) values.push_back(run[metric]);
  return spread_of(values);
}

// The model that a recipe of this program makes.
Result<std::shared_ptr<const learning::Model>> pretrain(const std::string& name,
                                                        const PaperSettings& settings) {
  std::vector<std::string> overrides;
  if (settings.quick) overrides = {"worlds=4", "validation.worlds=1", "validation.every=4"};
  const Result<LoadedRecipe> recipe = load_recipe(name, overrides);
  if (!recipe) return recipe.error();
  training::TrainingOrder order;
  order.seed = settings.seed;
  order.load_scenario = [](const std::string& scenario) { return load_scenario(scenario, {}); };
  Result<training::Training> training = training::start_training(recipe->file, order);
  if (!training) return training.error();
  training::Trainer& trainer = *training->trainer;
  while (trainer.done() < trainer.steps()) trainer.advance();
  return std::shared_ptr<const learning::Model>(std::make_shared<const learning::Model>(trainer.model()));
}

// The one that ships, or another that was given; nothing: there is none, and it begins from nothing.
std::shared_ptr<const learning::Model> shared_model(const PaperSettings& settings) {
  const auto found = settings.models.find("marl-shared");
  return found == settings.models.end() ? nullptr : found->second;
}

struct Entrant {
  std::string name;    // as shown
  std::string policy;  // as in `evaluate`, with switches
  scheduling::PolicyModels models{};
  MakePolicy make{};  // in its place, where given
};

RunResult run(const training::Experiment& experiment, const Entrant& entrant, std::uint64_t seed,
              bool series) {
  const simulator::WorldPlan plan = simulator::expand(experiment.scenario, seed);
  Result<scheduling::PolicySetup> setup =
      scheduling::set_up_policy(entrant.policy, experiment.options, entrant.models);
  RunResult result;
  if (!setup) return result;  // checked before
  if (entrant.make) setup->policy = entrant.make();
  simulator::SimulatedWorld world(plan, Random(seed), series);
  scheduling::Scheduler scheduler(setup->options);
  control::ControlLoop loop(world, scheduler, *setup->policy, Random(seed));
  loop.run();
  result.metrics = training::metrics_of(world, plan.pods.size());
  if (series) result.series = world.measures().series();
  return result;
}

// One entrant in the worlds of consecutive seeds.
Result<std::vector<RunResult>> run_all(const training::Experiment& experiment, const Entrant& entrant,
                                       const PaperSettings& settings, bool series = false) {
  const auto known = scheduling::set_up_policy(entrant.policy, experiment.options, entrant.models);
  if (!known) return known.error();
  std::vector<RunResult> runs(worlds_of(settings));
  training::in_parallel(runs.size(), settings.threads, [&](std::size_t i) {
    runs[i] = run(experiment, entrant, settings.seed + i, series);
  });
  return runs;
}

// --- Chapter 5: resources under uniform and random load ---------------------------------------------------

Result<PaperResult> resources(const PaperSettings& settings) {
  const auto drs = pretrain_drs("drs", {}, settings);
  if (!drs) return drs.error();
  const auto marl = pretrain("marl", settings);
  if (!marl) return marl.error();
  scheduling::PolicyModels trained{{"drs", *drs}, {"marl", *marl}};
  if (const auto model = shared_model(settings)) trained["marl-shared"] = model;
  if (const auto found = settings.models.find("evenkeel"); found != settings.models.end())
    trained["evenkeel"] = found->second;
  const std::vector<Entrant> entrants = {
      {"kube-default", "kube-default"},
      {"horizon", "horizon"},
      {"evenkeel", "evenkeel", trained},
      {"drs, pre-trained, frozen", "drs+frozen", trained},
      {"marl, from nothing", "marl"},
      {"marl, pre-trained, frozen", "marl+frozen", trained},
      {"marl, pre-trained, learning on", "marl", trained},
      {"marl-shared, frozen", "marl-shared+frozen", trained},
      {"marl-shared, learning on", "marl-shared", trained},
  };
  PaperResult result;
  result.title = "MARL, chapter 5: resources under uniform and random load";
  TextTable table = table_of({"load", "policy", "CPU %", "memory %", "receive %", "transmit %", "read %",
                              "write %", "imbalance", "imbalance of means"},
                             2);
  for (const char* scenario : {"marl-uniform", "marl-random", "drs-even", "drs-random"}) {
    const Result<training::Experiment> experiment = load_scenario(scenario, {});
    if (!experiment) return experiment.error();
    bool first = true;
    for (const Entrant& entrant : entrants) {
      const auto runs = run_all(*experiment, entrant, settings);
      if (!runs) return runs.error();
      std::vector<std::string> cells = {first ? scenario : "", entrant.name};
      first = false;
      Json& json = result.figures[scenario][entrant.name];
      for (const std::string_view dimension : kDimensionNames) {
        const std::string metric = "utilization_" + std::string(dimension);
        cells.push_back(text_of(spread_of(*runs, metric), 100));
        json[metric] = json_of(spread_of(*runs, metric));
      }
      for (const char* metric : {"imbalance", "imbalance_of_means"}) {
        cells.push_back(text_of(spread_of(*runs, metric)));
        json[metric] = json_of(spread_of(*runs, metric));
      }
      add_row(table, std::move(cells));
    }
  }
  result.tables.push_back({std::to_string(worlds_of(settings)) + " seeds", std::move(table)});
  result.notes = {
      "The thesis compares with DRS in pictures whose figures cannot be read; what its pods use it "
      "does not say (scenarios/marl-uniform.yaml has what we took)."};
  return result;
}

// --- Many agents, hours, nodes that come and go -----------------------------------------------------------

// marl-random with so many workers, so much more load, and nodes that leave for five minutes.
Result<training::Experiment> large(std::size_t agents, double minutes, double leaves_per_hour) {
  const double every_ms = 5600.0 * 4 / static_cast<double>(agents);
  const auto pods = static_cast<std::int64_t>(minutes * 60'000 / every_ms);
  return load_scenario(
      "marl-random", {"nodes.list.0.count=" + std::to_string(agents),
                      "workload.arrivals.every=" + std::to_string(static_cast<std::int64_t>(every_ms)) + "ms",
                      "workload.arrivals.pods=" + std::to_string(pods),
                      "faults.leaves_per_hour=" + format_number(leaves_per_hour), "faults.back_after=5m"});
}

// Mean imbalance of each of `parts` equal parts of a run.
std::vector<double> by_part(const RunResult& run, std::size_t parts, double until_s) {
  std::vector<double> sum(parts), seconds(parts);
  for (std::size_t i = 0; i + 1 < run.series.size(); ++i) {
    const simulator::SeriesPoint& point = run.series[i];
    if (point.at_s >= until_s) break;
    const double lasts = run.series[i + 1].at_s - point.at_s;
    const auto part =
        std::min(parts - 1, static_cast<std::size_t>(point.at_s / until_s * static_cast<double>(parts)));
    sum[part] += point.imbalance * lasts;
    seconds[part] += lasts;
  }
  for (std::size_t part = 0; part < parts; ++part)
    sum[part] = seconds[part] > 0 ? sum[part] / seconds[part] : std::nan("");
  return sum;
}

Result<PaperResult> convergence(const PaperSettings& settings) {
  struct Size {
    std::size_t agents;
    double minutes;
  };
  const std::vector<Size> sizes =
      settings.quick ? std::vector<Size>{{10, 4}} : std::vector<Size>{{10, 240}, {100, 60}, {500, 10}};
  constexpr std::size_t kParts = 6;
  scheduling::PolicyModels trained;
  if (const auto model = shared_model(settings)) trained["marl-shared"] = model;
  const std::vector<Entrant> entrants = {{"kube-default", "kube-default"},
                                         {"horizon", "horizon"},
                                         {"marl, from nothing", "marl"},
                                         {"marl-shared, from nothing", "marl-shared"},
                                         {"marl-shared, learning on", "marl-shared", trained},
                                         {"marl-shared, frozen", "marl-shared+frozen", trained}};
  PaperSettings few = settings;
  if (few.seeds == 0) few.seeds = settings.quick ? 1 : 2;
  PaperResult result;
  result.title = "MARL: learning with nodes that come and go";
  for (const Size& size : sizes) {
    // About one node in ten is away at any time.
    const double leaves = 0.1 * static_cast<double>(size.agents) * 12;
    const Result<training::Experiment> experiment = large(size.agents, size.minutes, leaves);
    if (!experiment) return experiment.error();
    TextTable table = table_of({"policy", "1st sixth", "2nd", "3rd", "4th", "5th", "last"}, 1);
    reporting::LineChart chart;
    chart.title = std::to_string(size.agents) + " agents";
    chart.x.label = "minutes";
    chart.y.label = "imbalance";
    for (const Entrant& entrant : entrants) {
      const auto runs = run_all(*experiment, entrant, few, true);
      if (!runs) return runs.error();
      std::vector<std::vector<double>> parts(kParts);
      for (const RunResult& each : *runs) {
        const std::vector<double> means = by_part(each, kParts, size.minutes * 60);
        for (std::size_t part = 0; part < kParts; ++part) parts[part].push_back(means[part]);
      }
      std::vector<std::string> cells = {entrant.name};
      reporting::ChartLine line{entrant.name, static_cast<int>(chart.lines.size()), false, true, {}};
      for (std::size_t part = 0; part < kParts; ++part) {
        const Spread imbalance = spread_of(parts[part]);
        cells.push_back(text_of(imbalance));
        line.points.push_back({(static_cast<double>(part) + 0.5) * size.minutes / kParts, imbalance.mean});
        result.figures[std::to_string(size.agents)][entrant.name].push_back(json_of(imbalance));
      }
      add_row(table, std::move(cells));
      chart.lines.push_back(std::move(line));
    }
    result.tables.push_back({std::to_string(size.agents) + " agents, " + format_number(size.minutes) +
                                 " minutes, " + format_number(leaves) + " departures an hour, " +
                                 std::to_string(worlds_of(few)) + " seeds",
                             std::move(table)});
    result.charts.push_back(std::move(chart));
  }
  result.notes = {
      "Simulated time. A node that leaves is back after five minutes, with what its agent had learnt."};
  return result;
}

// --- A node that joins ------------------------------------------------------------------------------------

Result<PaperResult> new_node(const PaperSettings& settings) {
  const std::vector<std::string> joins = {"nodes.list.0.joins=0s", "nodes.list.0.count=3",
                                          "workload.arrivals.pods=330", "workload.arrivals.every=7s"};
  Result<training::Experiment> experiment = load_scenario("marl-random", joins);
  if (!experiment) return experiment.error();
  // The fourth comes after twenty minutes; measured are the ten after.
  simulator::NodeGroup late = experiment->scenario.nodes.front();
  late.name = "worker-new";
  late.count = 1;
  late.joins = std::chrono::minutes{20};
  experiment->scenario.nodes.push_back(late);
  const auto shared = shared_model(settings);
  const auto marl = pretrain("marl", settings);
  if (!marl) return marl.error();
  learning::Model three = **marl;  // those of the nodes that are there before
  three.networks.resize(std::min<std::size_t>(3, three.networks.size()));
  scheduling::PolicyModels trained{{"marl", std::make_shared<const learning::Model>(std::move(three))}};
  if (shared) trained["marl-shared"] = shared;
  const auto make_blank = [shared]() -> std::unique_ptr<scheduling::PlacementPolicy> {
    MarlSettings blank = *scheduling::marl_settings("marl-shared");
    blank.blank_newcomers = true;
    blank.average_every = 1'000'000'000;  // it is on its own
    if (!shared) return std::make_unique<Marl>(blank);
    auto made = Marl::from_model(blank, *shared);
    if (!made) return std::make_unique<Marl>(blank);
    return *std::move(made);
  };
  const std::vector<Entrant> entrants = {
      {"kube-default", "kube-default"},
      {"horizon", "horizon"},
      {"marl: three networks, the newcomer blank", "marl", trained},
      {"marl-shared, the newcomer blank", "marl-shared", trained, make_blank},
      {"marl-shared, the newcomer with the shared network", "marl-shared", trained},
  };
  PaperResult result;
  result.title = "MARL: a node that joins";
  TextTable table =
      table_of({"policy", "before", "minutes 0-5", "minutes 5-10", "newcomer's CPU % after 10"}, 1);
  for (const Entrant& entrant : entrants) {
    const auto runs = run_all(*experiment, entrant, settings, true);
    if (!runs) return runs.error();
    std::vector<std::vector<double>> windows(3);
    std::vector<double> cpu;
    for (const RunResult& each : *runs) {
      constexpr double kEdges[] = {600, 1200, 1500, 1800};
      double own = 0;
      for (std::size_t w = 0; w < 3; ++w) {
        double sum = 0, seconds = 0;
        for (std::size_t i = 0; i + 1 < each.series.size(); ++i) {
          const simulator::SeriesPoint& point = each.series[i];
          if (point.at_s < kEdges[w] || point.at_s >= kEdges[w + 1]) continue;
          const double lasts = each.series[i + 1].at_s - point.at_s;
          sum += point.imbalance * lasts;
          seconds += lasts;
          if (!point.nodes.empty()) own = static_cast<double>(point.nodes.back()[0]);
        }
        windows[w].push_back(seconds > 0 ? sum / seconds : std::nan(""));
      }
      cpu.push_back(own);
    }
    add_row(table, {entrant.name, text_of(spread_of(windows[0])), text_of(spread_of(windows[1])),
                    text_of(spread_of(windows[2])), text_of(spread_of(cpu), 100)});
    result.figures[entrant.name] = {{"before", json_of(spread_of(windows[0]))},
                                    {"minutes_0_5", json_of(spread_of(windows[1]))},
                                    {"minutes_5_10", json_of(spread_of(windows[2]))},
                                    {"newcomer_cpu", json_of(spread_of(cpu))}};
  }
  result.tables.push_back(
      {"Imbalance before and after a fourth worker joins, " + std::to_string(worlds_of(settings)) + " seeds",
       std::move(table)});
  result.notes = {
      "Right after it joined an empty node makes any cluster uneven: what counts is how fast it fills."};
  return result;
}

constexpr PaperFigure kPaperFigures[] = {
    {"marl-resources", "MARL: utilisation and balance under uniform and random load", resources},
    {"marl-convergence", "MARL: 10, 100 and 500 agents, nodes coming and going", convergence},
    {"marl-new-node", "MARL: how soon a node that joins is as good as the others", new_node},
};

}  // namespace

std::span<const PaperFigure> marl_figures() { return kPaperFigures; }

}  // namespace evenkeel::apps
