#include "apps/training_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "apps/version.h"
#include "reporting/number_format.h"

namespace evenkeel::apps {
namespace {

using Json = nlohmann::ordered_json;
using reporting::format_number;
using training::LearningCurve;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kSparkWidth = 40;

struct Spread {
  double mean = kNone, sd = 0, low = kNone, high = kNone;
};

Spread spread_of(const std::vector<double>& values) {
  Spread spread;
  const auto n = static_cast<double>(values.size());
  if (values.empty()) return spread;
  spread.mean = 0;
  for (const double value : values) spread.mean += value / n;
  double squares = 0;
  for (const double value : values) squares += std::pow(value - spread.mean, 2);
  spread.sd = n > 1 ? std::sqrt(squares / (n - 1)) : 0;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  spread.low = *low;
  spread.high = *high;
  return spread;
}

// The mean of what is finite between two steps.
double mean_between(const std::vector<double>& values, std::size_t from, std::size_t to) {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t i = from; i < to && i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    sum += values[i];
    ++count;
  }
  return count == 0 ? kNone : sum / static_cast<double>(count);
}

// One step says little where steps are noisy: the first and the last tenth.
double beginning(const std::vector<double>& values) {
  return mean_between(values, 0, std::max<std::size_t>(1, values.size() / 10));
}
double ending(const std::vector<double>& values) {
  return mean_between(values, values.size() - std::max<std::size_t>(1, values.size() / 10), values.size());
}

// Figures in the order of the first training's curve.
std::vector<std::string> figure_names(const TrainingReport& report) {
  std::vector<std::string> names;
  for (const TrainingOutcome& training : report.trainings)
    for (const LearningCurve::Line& line : training.curve.lines())
      if (std::find(names.begin(), names.end(), line.name) == names.end()) names.push_back(line.name);
  return names;
}

const std::vector<double>& values_of(const LearningCurve& curve, std::string_view name) {
  static const std::vector<double> kEmpty;
  for (const LearningCurve::Line& line : curve.lines())
    if (line.name == name) return line.values;
  return kEmpty;
}

// Over the trainings, of what `pick` takes from each; what is not finite is left out.
template <class Pick>
std::vector<double> over_trainings(const TrainingReport& report, Pick pick) {
  std::vector<double> values;
  for (const TrainingOutcome& training : report.trainings)
    if (const double value = pick(training); std::isfinite(value)) values.push_back(value);
  return values;
}

std::vector<std::string> model_figures(const TrainingReport& report) {
  std::vector<std::string> names;
  for (const TrainingOutcome& training : report.trainings)
    for (const auto& [name, value] : training.model.figures)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

std::vector<double> figure_over_trainings(const TrainingReport& report, const std::string& name) {
  return over_trainings(report, [&](const TrainingOutcome& training) {
    const auto found = training.model.figures.find(name);
    return found == training.model.figures.end() ? kNone : found->second;
  });
}

std::string mean_sd(const Spread& spread, std::size_t count) {
  return reporting::format_mean_sd(spread.mean, count > 1 ? std::optional(spread.sd) : std::nullopt);
}

// A figure of the models themselves: what their trainer measured of them.
reporting::TextTable figures_table(const TrainingReport& report) {
  reporting::TextTable table{{{"figure of the model", reporting::Align::left}, {"mean"}}, {}, {}};
  if (report.trainings.size() > 1) {
    table.columns.push_back({"lowest"});
    table.columns.push_back({"highest"});
  }
  for (const std::string& name : model_figures(report)) {
    const std::vector<double> values = figure_over_trainings(report, name);
    const Spread spread = spread_of(values);
    table.rows.push_back({{name},
                          {mean_sd(spread, values.size())},
                          {format_number(spread.low)},
                          {format_number(spread.high)}});
    table.rows.back().resize(table.columns.size());
  }
  return table;
}

Json spread_json(const std::vector<double>& values) {
  const Spread spread = spread_of(values);
  return {{"mean", spread.mean}, {"sd", spread.sd}, {"values", values}};
}

}  // namespace

std::string sparkline(const std::vector<double>& values, std::size_t width) {
  constexpr std::array<const char*, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t count = std::min(width, values.size());
  std::vector<double> means;
  for (std::size_t i = 0; i < count; ++i)
    means.push_back(mean_between(values, i * values.size() / count, (i + 1) * values.size() / count));
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double mean : means) {
    if (!std::isfinite(mean)) continue;
    low = std::min(low, mean);
    high = std::max(high, mean);
  }
  std::string line;
  for (const double mean : means) {
    if (!std::isfinite(mean)) {
      line += ' ';
      continue;
    }
    const double share = high > low ? (mean - low) / (high - low) : 0.5;
    line += kBlocks[std::min<std::size_t>(7, static_cast<std::size_t>(share * 8))];
  }
  return line;
}

reporting::TextTable table_of(const TrainingReport& report) {
  using reporting::Align;
  reporting::TextTable table{
      {{"figure", Align::left}, {"first tenth"}, {"last tenth"}, {"curve", Align::left}}, {}, {}};
  for (const std::string& name : figure_names(report)) {
    const auto first =
        over_trainings(report, [&](const TrainingOutcome& t) { return beginning(values_of(t.curve, name)); });
    const auto last =
        over_trainings(report, [&](const TrainingOutcome& t) { return ending(values_of(t.curve, name)); });
    table.rows.push_back({{name},
                          {mean_sd(spread_of(first), first.size())},
                          {mean_sd(spread_of(last), last.size())},
                          {sparkline(values_of(report.trainings.front().curve, name), kSparkWidth)}});
  }
  return table;
}

reporting::TextTable model_table_of(const TrainingReport& report) { return figures_table(report); }

std::string json_of(const TrainingReport& report) {
  Json trainings = Json::array();
  for (const TrainingOutcome& training : report.trainings) {
    Json curve = Json::object();
    for (const LearningCurve::Line& line : training.curve.lines()) curve[line.name] = line.values;
    trainings.push_back({{"seed", training.seed},
                         {"model", training.model_path.empty() ? Json(nullptr) : Json(training.model_path)},
                         {"encoding", training.model.encoding},
                         {"figures", training.model.figures},
                         {"curve", std::move(curve)}});
  }
  Json figures = Json::object(), curves = Json::object();
  for (const std::string& name : model_figures(report))
    figures[name] = spread_json(figure_over_trainings(report, name));
  for (const std::string& name : figure_names(report))
    curves[name] = spread_json(
        over_trainings(report, [&](const TrainingOutcome& t) { return ending(values_of(t.curve, name)); }));
  const Json json = {{"recipe", report.recipe},         {"learner", report.learner},
                     {"scenarios", report.scenarios},   {"step", report.step_name},
                     {"steps", report.steps},           {"figures", std::move(figures)},
                     {"last_tenth", std::move(curves)}, {"trainings", std::move(trainings)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

reporting::ReportData report_of(const TrainingReport& report) {
  reporting::ReportData page;
  page.title = "Training by recipe " + report.recipe;
  for (const std::string& scenario : report.scenarios)
    page.scenario += (page.scenario.empty() ? "" : ", ") + scenario;
  page.command = report.command;
  page.version = kVersion;
  for (const TrainingOutcome& training : report.trainings) page.seeds.push_back(training.seed);
  page.tables.push_back(
      {"The learning curve, " + std::to_string(report.steps) + " steps, one " + report.step_name + " each",
       table_of(report)});
  if (!model_figures(report).empty()) page.tables.push_back({"What it came to", figures_table(report)});
  for (const std::string& name : figure_names(report)) {
    reporting::LineChart chart{
        .title = name, .x = {.label = report.step_name}, .y = {.label = name}, .lines = {}, .width = 1040};
    for (std::size_t t = 0; t < report.trainings.size(); ++t) {
      reporting::ChartLine line{.label = "seed " + std::to_string(report.trainings[t].seed),
                                .colour = static_cast<int>(t % 8)};
      const std::vector<double>& values = values_of(report.trainings[t].curve, name);
      for (std::size_t i = 0; i < values.size(); ++i)
        if (std::isfinite(values[i])) line.points.push_back({static_cast<double>(i + 1), values[i]});
      chart.lines.push_back(std::move(line));
    }
    page.charts.push_back(std::move(chart));
  }
  return page;
}

}  // namespace evenkeel::apps
