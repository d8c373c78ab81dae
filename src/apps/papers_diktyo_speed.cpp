// Diktyo's figures 13 and 14 (seed paper 004), made again: what its plugins cost as clusters grow.
#include <algorithm>

#include "apps/network_runs.h"
#include "apps/network_speed.h"
#include "apps/papers_diktyo.h"
#include "reporting/number_format.h"

namespace evenkeel::apps {
namespace {

using reporting::Align;
using reporting::format_number;

constexpr std::size_t kSizes[] = {10, 50, 100, 500, 1000, 2000, 5000, 10000};

std::vector<std::size_t> sizes(const PaperSettings& settings) {
  if (settings.quick) return {10, 1000};
  return {std::begin(kSizes), std::end(kSizes)};
}

reporting::LineChart chart_of(std::string title, std::string x, std::string y) {
  reporting::LineChart chart;
  chart.title = std::move(title);
  chart.x = {std::move(x), reporting::Scale::logarithmic};
  chart.y = {std::move(y), reporting::Scale::logarithmic};
  return chart;
}

}  // namespace

Result<PaperResult> diktyo_figure13(const PaperSettings& settings) {
  PaperResult result{"Diktyo, figure 13: filter and score over the number of nodes", {}, {}, {}, {}};
  const std::vector<std::string> policies =
      known_policies({"kube-default", "task-topology", "diktyo", "network"});
  reporting::TextTable table{{{"nodes"}}, {}, {}};
  reporting::LineChart chart = chart_of("a decision, median", "nodes", "ms");
  for (std::size_t p = 0; p < policies.size(); ++p) {
    table.columns.push_back({policies[p] + " ms"});
    table.columns.push_back({"p99"});
    chart.lines.push_back({policies[p], static_cast<int>(p), false, true, {}});
  }
  for (const std::size_t nodes : sizes(settings)) {
    std::vector<reporting::TextCell> row{{std::to_string(nodes)}};
    for (std::size_t p = 0; p < policies.size(); ++p) {
      const Result<DecisionTime> time = time_decisions(policies[p], nodes, settings.quick ? 20 : 500);
      if (!time) return time.error();
      row.push_back({format_number(time->p50_ms)});
      row.push_back({format_number(time->p99_ms)});
      chart.lines[p].points.push_back({static_cast<double>(nodes), time->p50_ms});
      result.figures[policies[p]][std::to_string(nodes)] = {{"p50_ms", time->p50_ms},
                                                            {"p99_ms", time->p99_ms}};
    }
    table.rows.push_back(std::move(row));
  }
  result.tables.push_back(
      {"one pod of an Online Boutique whose others are placed; all filters, scores and the choice, on this "
       "machine",
       std::move(table)});
  result.charts.push_back(std::move(chart));
  result.notes = {
      "The paper: below 1 s for 10,000 nodes, growing \"logarithmically\". A rule that looks at every node "
      "grows with their number; what can be small is the time for each."};
  return result;
}

Result<PaperResult> diktyo_figure14(const PaperSettings& settings) {
  PaperResult result{"Diktyo, figure 14: the queue's order over the number of pods", {}, {}, {}, {}};
  const std::vector<std::string> policies = known_policies({"kube-default", "diktyo", "network"});
  reporting::TextTable table{{{"pods"}}, {}, {}};
  reporting::LineChart chart = chart_of("a pod finds its place", "pods that wait", "ns");
  for (std::size_t p = 0; p < policies.size(); ++p) {
    table.columns.push_back({policies[p] + " ns a pod"});
    chart.lines.push_back({policies[p], static_cast<int>(p), false, true, {}});
  }
  for (const std::size_t pods : sizes(settings)) {
    std::vector<reporting::TextCell> row{{std::to_string(pods)}};
    for (std::size_t p = 0; p < policies.size(); ++p) {
      const Result<QueueTime> time = time_queue(policies[p], pods);
      if (!time) return time.error();
      row.push_back({format_number(time->push_ns)});
      chart.lines[p].points.push_back({static_cast<double>(pods), time->push_ns});
      result.figures[policies[p]][std::to_string(pods)] = {{"push_ns", time->push_ns}};
    }
    table.rows.push_back(std::move(row));
  }
  result.tables.push_back(
      {"pods of one group that wait, in random order of arrival: all of what is done when a pod "
       "is added, its place in the queue among it, on this machine",
       std::move(table)});
  result.charts.push_back(std::move(chart));
  result.notes = {
      "The paper times single comparisons of TopologicalSort (its example: 44.8 ns) and finds them to grow "
      "\"logarithmically\"; upstream looks the group up in each, we keep each pod's rank with it."};
  return result;
}

}  // namespace evenkeel::apps
