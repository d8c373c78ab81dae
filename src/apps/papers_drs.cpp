// Figures 8 to 13 and Tables 4 and 5 of DRS (seed paper 000), made again: from nothing, as the paper has it,
// and pre-trained.
#include <cmath>

#include "apps/papers_drs_runs.h"
#include "reporting/number_format.h"
#include "training/in_parallel.h"

namespace evenkeel::apps {
namespace {

using reporting::format_number;
using reporting::TextTable;
using training::Spread;
using Json = nlohmann::ordered_json;

// --- Figure 8 -----------------------------------------------------------------------------

struct Sweep {
  std::string_view name;
  std::vector<double> values;
  void (*set)(scheduling::DrsSettings&, double);
  std::string_view field;  // of the recipe, for pre-training
};

const std::vector<Sweep>& sweeps() {
  using S = scheduling::DrsSettings;
  static const std::vector<Sweep> all = {
      {"K",
       {10, 25, 50, 100, 200},
       [](S& s, double v) { s.learner.dqn.target_every = static_cast<std::uint64_t>(v); },
       "target_every"},
      {"N",
       {50, 100, 200, 300, 500},
       [](S& s, double v) { s.learner.dqn.replay.capacity = static_cast<std::size_t>(v); },
       "pool"},
      {"epsilon",
       {0.05, 0.1, 0.2, 0.3, 0.5},
       [](S& s, double v) { s.learner.dqn.epsilon_start = s.learner.dqn.epsilon_end = v; },
       "epsilon.end"},
      {"beta/alpha", {50, 100, 200, 300, 500}, [](S& s, double v) { s.beta = v; }, "reward.beta"},
  };
  return all;
}

Result<PaperResult> figure_8(const PaperSettings& settings) {
  std::vector<DrsRunOrder> orders;
  std::vector<std::vector<std::string>> overrides;
  for (const Sweep& sweep : sweeps())
    for (const double value : sweep.values) {
      scheduling::DrsSettings changed = *scheduling::drs_settings("drs");
      sweep.set(changed, value);
      orders.push_back({"drs-even", "drs", [changed] { return std::make_unique<scheduling::Drs>(changed); }});
      overrides.push_back({"worlds=60", "epsilon.start=0.1", "epsilon.end=0.1", "pool=300", "target_every=50",
                           "discount=0.9", "validation.worlds=0",
                           std::string(sweep.field) + "=" + format_number(value)});
      if (sweep.field == "epsilon.end") overrides.back().push_back("epsilon.start=" + format_number(value));
      if (settings.quick) overrides.back()[0] = "worlds=2";
    }
  const Result<std::vector<DrsRuns>> online = run_drs(orders, settings, {});
  if (!online) return online.error();

  std::vector<std::optional<Result<std::shared_ptr<const learning::Model>>>> models(orders.size());
  training::in_parallel(orders.size(), settings.threads,
                        [&](std::size_t i) { models[i] = pretrain_drs("drs", overrides[i], settings); });
  for (std::size_t i = 0; i < orders.size(); ++i) {
    if (!*models[i]) return models[i]->error();
    scheduling::DrsSettings frozen = *scheduling::drs_settings("drs");
    frozen.frozen = true;
    orders[i].make = [frozen, model = **models[i]] { return *scheduling::Drs::from_model(frozen, *model); };
  }
  const Result<std::vector<DrsRuns>> trained = run_drs(orders, settings, {});
  if (!trained) return trained.error();

  PaperResult result;
  result.title = "DRS, figure 8: the average reward under different settings";
  TextTable table =
      table_of({"setting", "reward, from nothing", "imbalance", "reward, 60 worlds before", "imbalance"}, 1);
  std::size_t at = 0;
  for (const Sweep& sweep : sweeps()) {
    reporting::LineChart chart;
    chart.title = "Average reward by " + std::string(sweep.name);
    chart.x.label = sweep.name;
    chart.y.label = "reward (eq. 14, beta/alpha 200)";
    chart.lines = {{"from nothing", 0, false, true, {}}, {"60 worlds before", 1, false, true, {}}};
    for (const double value : sweep.values) {
      const DrsRuns &from_nothing = (*online)[at], &before = (*trained)[at];
      ++at;
      const Spread rewards[] = {from_nothing.mean_reward(), before.mean_reward()};
      const Spread imbalances[] = {from_nothing.whole_metric("imbalance"), before.whole_metric("imbalance")};
      const std::string name = std::string(sweep.name) + " = " + format_number(value);
      add_row(table, {name, text_of(rewards[0]), text_of(imbalances[0]), text_of(rewards[1]),
                      text_of(imbalances[1])});
      for (const std::size_t i : {0U, 1U}) chart.lines[i].points.push_back({value, rewards[i].mean});
      result.figures[std::string(sweep.name)][format_number(value)] = {
          {"reward_from_nothing", json_of(rewards[0])},
          {"imbalance_from_nothing", json_of(imbalances[0])},
          {"reward_pretrained", json_of(rewards[1])},
          {"imbalance_pretrained", json_of(imbalances[1])}};
    }
    result.charts.push_back(std::move(chart));
  }
  result.tables.push_back(
      {"Even workload, " + std::to_string(seeds_of(settings)) + " seeds", std::move(table)});
  result.notes = {
      "The paper tells best values (K 50, N 300, epsilon 0.1, beta/alpha 200) and shapes, no figures.",
      "All rewards are eq. 14 with beta/alpha 200, whatever was learnt with, so that they can be compared.",
      "Differences within a sweep are of the size of the spread over seeds: 300 pods decide nothing."};
  return result;
}

// --- Figure 9 -----------------------------------------------------------------------------

std::vector<reporting::ChartPoint> smoothed(const std::vector<std::vector<double>>& rewards) {
  constexpr std::size_t kOver = 20;  // epochs
  std::vector<reporting::ChartPoint> points;
  std::size_t epochs = 0;
  for (const auto& run : rewards) epochs = std::max(epochs, run.size());
  for (std::size_t epoch = kOver; epoch <= epochs; epoch += 4) {
    double sum = 0, n = 0;
    for (const auto& run : rewards)
      for (std::size_t i = epoch - kOver; i < std::min(epoch, run.size()); ++i, n += 1) sum += run[i];
    if (n > 0) points.push_back({static_cast<double>(epoch), sum / n});
  }
  return points;
}

Result<PaperResult> figure_9(const PaperSettings& settings) {
  const std::vector<std::string> learners = {"drs",     "drs-double", "drs-dueling",
                                             "drs-ppo", "drs-sac",    "drs-literal"};
  const std::vector<std::string> rules = {"kube-default", "random", "round-robin"};
  const std::vector<std::string> pretrained(learners.begin(), learners.end() - 1);
  const Result<scheduling::PolicyModels> models = pretrain_all(pretrained, settings);
  if (!models) return models.error();

  struct Row {
    std::string policy, how;
    bool with_model;
  };
  std::vector<Row> rows;
  for (const std::string& policy : learners) rows.push_back({policy, std::string(kFromNothing), false});
  for (const std::string& policy : rules) rows.push_back({policy, "rule", false});
  for (const std::string& policy : pretrained) {
    rows.push_back({policy + "+frozen", std::string(kPretrained), true});
    rows.push_back({policy, std::string(kLearningOn), true});
  }

  PaperResult result;
  result.title = "DRS, figure 9: the reward over 300 epochs";
  for (std::size_t w = 0; w < std::size(kDrsWorkloads); ++w) {
    TextTable table = table_of({"policy", "", "reward", "reward from epoch 250", "imbalance", "of means"}, 2);
    reporting::LineChart chart;
    chart.title = std::string(kDrsWorkloadNames[w]) + " workload: reward, mean of 20 epochs";
    chart.x.label = "epoch";
    chart.y.label = "reward";
    for (const bool with_model : {false, true}) {
      std::vector<DrsRunOrder> orders;
      std::vector<const Row*> shown;
      for (const Row& row : rows)
        if (row.with_model == with_model) {
          orders.push_back({kDrsWorkloads[w], row.policy, {}});
          shown.push_back(&row);
        }
      const auto runs = run_drs(orders, settings, with_model ? *models : scheduling::PolicyModels{});
      if (!runs) return runs.error();
      for (std::size_t i = 0; i < shown.size(); ++i) {
        const DrsRuns& run = (*runs)[i];
        const Spread all = run.mean_reward(), late = run.mean_reward(250);
        const Spread imbalance = run.whole_metric("imbalance"),
                     means = run.whole_metric("imbalance_of_means");
        const std::string policy = shown[i]->policy.substr(0, shown[i]->policy.find('+'));
        add_row(table,
                {policy, shown[i]->how, text_of(all), text_of(late), text_of(imbalance), text_of(means)});
        result.figures[std::string(kDrsWorkloads[w])][policy][shown[i]->how] = {
            {"reward", json_of(all)},
            {"reward_late", json_of(late)},
            {"imbalance", json_of(imbalance)},
            {"imbalance_of_means", json_of(means)}};
        if (!with_model || shown[i]->how == kPretrained)
          chart.lines.push_back({policy + (with_model ? " pre-trained" : ""),
                                 static_cast<int>(chart.lines.size()), shown[i]->how == "rule", false,
                                 smoothed(run.rewards)});
      }
    }
    result.tables.push_back({std::string(kDrsWorkloadNames[w]) + " workload", std::move(table)});
    result.charts.push_back(std::move(chart));
  }
  result.notes = {
      "Paper: all learners converge within 100 epochs and end above every rule. Ours, from nothing: they do "
      "not.",
      "drs-literal reads Algorithm 2 to the letter: it would learn once the pool has overflowed, so never "
      "here."};
  return result;
}

// --- Figures 10 to 13 ------------------------------------------------------------------------

constexpr std::size_t kColumns = kDimensions + 2;  // the six, their mean, the imbalance
using PaperRow = std::array<double, kColumns>;

struct UtilizationFigure {
  std::string_view title;
  std::vector<std::pair<std::string, std::string_view>> policies;  // and how they came by what they know
  std::array<PaperRow, 3> paper;                                   // percent, and imbalance
};

Result<PaperResult> utilization(const UtilizationFigure& figure, const PaperSettings& settings) {
  scheduling::PolicyModels models;
  for (const auto& [policy, how] : figure.policies) {
    if (how != kPretrained && how != kLearningOn) continue;
    const Result<scheduling::PolicyModels> trained = pretrain_all({"drs"}, settings);
    if (!trained) return trained.error();
    models = *trained;
    break;
  }
  PaperResult result;
  result.title = figure.title;
  TextTable table = table_of({"workload", "policy", "CPU %", "memory %", "receive %", "transmit %", "read %",
                              "write %", "mean %", "imbalance of means", "imbalance"},
                             2);
  for (std::size_t w = 0; w < std::size(kDrsWorkloads); ++w) {
    std::vector<std::string> cells = {std::string(kDrsWorkloadNames[w]), "paper"};
    for (const double value : figure.paper[w]) cells.push_back(format_number(value));
    add_row(table, std::move(cells));
    for (const auto& [policy, how] : figure.policies) {
      const bool with_model = how == kPretrained || how == kLearningOn;
      const auto runs = run_drs({{kDrsWorkloads[w], policy, {}, true}}, settings,
                                with_model ? models : means_model_of(settings));
      if (!runs) return runs.error();
      Json& json =
          result
              .figures[std::string(kDrsWorkloads[w])][policy + (how.empty() ? "" : ", " + std::string(how))];
      std::vector<std::string> row = {"", policy + (how.empty() ? "" : ", " + std::string(how))};
      for (std::size_t d = 0; d < kDimensions; ++d) {
        const std::string metric = "utilization_" + std::string(kDimensionNames[d]);
        row.push_back(text_of(runs->front().late_metric(metric), 100));
        json[metric] = json_of(runs->front().late_metric(metric));
      }
      row.push_back(text_of(runs->front().late_metric("utilization"), 100));
      for (const char* metric : {"imbalance_of_means", "imbalance"}) {
        row.push_back(text_of(runs->front().late_metric(metric)));
        json[metric] = json_of(runs->front().late_metric(metric));
        json[std::string(metric) + "_from_minute_10"] = json_of(runs->front().whole_metric(metric));
      }
      json["utilization"] = json_of(runs->front().late_metric("utilization"));
      add_row(table, std::move(row));
    }
  }
  result.tables.push_back(
      {"From the 250th epoch to the last arrival, " + std::to_string(seeds_of(settings)) + " seeds",
       std::move(table)});
  result.notes = {
      "Work is conserved: which nodes take it moves mean utilisation by a few percent of itself, because the "
      "same "
      "pod is a larger share of a small node. The paper's +41.67, +31.31 and +8.90 % do not come from "
      "choosing nodes."};
  return result;
}

// The paper's sentences of section 5.3.3, in its order.
Result<PaperResult> figure_10(const PaperSettings& settings) {
  return utilization({"DRS, figure 10: resource utilisation under DRS",
                      {{"drs", kFromNothing}, {"drs+frozen", kPretrained}, {"drs-means", ""}},
                      {{{56.80, 64.05, 47.51, 44.42, 31.00, 41.82, 47.60, 0.02},
                        {50.02, 59.05, 44.85, 40.26, 28.86, 38.62, 43.61, 0.03},
                        {69.17, 72.43, 31.15, 32.36, 21.36, 24.96, 41.90, 0.05}}}},
                     settings);
}
Result<PaperResult> figure_11(const PaperSettings& settings) {
  return utilization({"DRS, figure 11: resource utilisation under kube-scheduler",
                      {{"kube-default", ""}},
                      {{{59.61, 57.13, 27.14, 21.94, 15.45, 20.34, 33.60, 0.08},
                        {58.30, 57.33, 27.38, 21.50, 15.64, 19.12, 33.21, 0.08},
                        {65.44, 65.58, 31.94, 29.43, 18.48, 20.00, 38.48, 0.07}}}},
                     settings);
}
Result<PaperResult> figure_12(const PaperSettings& settings) {
  return utilization({"DRS, figure 12: resource utilisation under Random",
                      {{"random", ""}},
                      {{{59.45, 59.85, 34.78, 32.32, 19.19, 25.91, 38.58, 0.06},
                        {59.24, 60.85, 33.37, 31.51, 19.60, 24.78, 38.22, 0.07},
                        {56.83, 57.31, 30.99, 29.95, 16.69, 17.86, 33.94, 0.09}}}},
                     settings);
}
Result<PaperResult> figure_13(const PaperSettings& settings) {
  return utilization({"DRS, figure 13: resource utilisation under Round Robin",
                      {{"round-robin", ""}},
                      {{{58.74, 58.19, 33.18, 32.42, 18.67, 23.82, 37.50, 0.06},
                        {58.85, 59.61, 32.78, 32.37, 18.40, 22.74, 37.46, 0.06},
                        {54.88, 55.36, 29.36, 30.69, 17.25, 15.78, 33.88, 0.09}}}},
                     settings);
}

constexpr PaperFigure kPaperFigures[] = {
    {"drs-fig8", "DRS: reward under different K, N, epsilon and beta/alpha", figure_8},
    {"drs-fig9", "DRS: reward over 300 epochs, eight algorithms, three workloads", figure_9},
    {"drs-fig10", "DRS: resource utilisation under DRS", figure_10},
    {"drs-fig11", "DRS: resource utilisation under kube-scheduler", figure_11},
    {"drs-fig12", "DRS: resource utilisation under Random", figure_12},
    {"drs-fig13", "DRS: resource utilisation under Round Robin", figure_13},
    {"drs-table4", "DRS: makespan and what decisions take", drs_table_4},
    {"drs-table5", "DRS beside the rewards of RLSK, DeepRM and Multi-DeepRM", drs_table_5},
};

}  // namespace

std::span<const PaperFigure> drs_figures() { return kPaperFigures; }

}  // namespace evenkeel::apps
