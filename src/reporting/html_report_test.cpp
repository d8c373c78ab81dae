#include "reporting/html_report.h"

#include <gtest/gtest.h>

#include <cmath>

namespace evenkeel::reporting {
namespace {

std::size_t occurrences(const std::string& text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

PolicyRun run_of(std::string policy, int nodes) {
  PolicyRun run{.policy = std::move(policy)};
  for (int t = 0; t < 50; ++t) run.imbalance.push_back({t * 60.0, 0.1 + 0.05 * std::sin(t * 0.3)});
  for (int n = 0; n < nodes; ++n) {
    NodeUsage node{.node = "node-" + std::to_string(n)};
    for (int t = 0; t < 50; ++t) node.at_s.push_back(t * 60.0);
    for (auto& values : node.utilization) values.assign(50, 0.4);
    run.nodes.push_back(node);
  }
  for (int i = 0; i < 1000; ++i) run.response_s.push_back(30.0 + i % 100);
  return run;
}

ReportData sample(int nodes) {
  return {.title = "drs-even",
          .scenario = "drs-even",
          .source = "generated, DRS section 5.2",
          .command = "evenkeel evaluate --scenario drs-even --seeds 5",
          .seeds = {1, 2, 3},
          .table = {.columns = {{"imbalance", "Imbalance", Better::lower}},
                    .rows = {{"kube-default", PolicyKind::rule, {{{0.135, 0.011}}}},
                             {"horizon", PolicyKind::rule, {{{0.073, 0.002}}}},
                             {"clairvoyant", PolicyKind::reference, {{{0.067, 0.002}}}}}},
          .runs = {run_of("kube-default", nodes), run_of("horizon", nodes)}};
}

TEST(HtmlReport, SaysWhatWasRunAndHowToRunItAgain) {
  const std::string html = render_html_report(sample(4));
  EXPECT_NE(html.find("generated, DRS section 5.2"), std::string::npos);
  EXPECT_NE(html.find("1, 2, 3"), std::string::npos);
  EXPECT_NE(html.find("<code>evenkeel evaluate --scenario drs-even --seeds 5</code>"), std::string::npos);
}

TEST(HtmlReport, MarksTheBestRuleAndTheReferences) {
  const std::string html = render_html_report(sample(4));
  EXPECT_NE(html.find("<td class=\"best\">0.0730 ± 0.0020</td>"), std::string::npos);
  EXPECT_NE(html.find("<tr class=\"reference\">"), std::string::npos);
  EXPECT_EQ(occurrences(html, "<td class=\"best\">"), 1u);
}

TEST(HtmlReport, DrawsEveryNodeOfASmallCluster) {
  const std::string html = render_html_report(sample(4));
  // Imbalance, response times, and four nodes for each of two policies.
  EXPECT_EQ(occurrences(html, "role=\"img\""), 2u + 8u);
}

TEST(HtmlReport, TurnsToHeatMapsForALargeCluster) {
  const std::string html = render_html_report(sample(500));
  EXPECT_EQ(occurrences(html, "role=\"img\""), 2u + 4u);
  EXPECT_NE(html.find("40 of 500 nodes"), std::string::npos);
  EXPECT_LT(html.size(), 500'000u);
}

TEST(HtmlReport, NeedsNothingFromElsewhere) {
  const std::string html = render_html_report(sample(4));
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("src="), std::string::npos);
  EXPECT_EQ(html.find("href="), std::string::npos);
  EXPECT_EQ(occurrences(html, "http://"), occurrences(html, "http://www.w3.org/2000/svg"));
}

TEST(HtmlReport, EscapesEveryString) {
  const std::string evil = "<img src=x onerror='alert(\"1\")'>&";
  ReportData report = sample(1);
  report.title = report.scenario = report.source = report.command = report.version = evil;
  report.notes = {evil};
  report.table.columns[0] = {evil, evil, Better::lower};
  report.table.rows[0].policy = evil;
  report.runs[0].policy = evil;
  report.runs[0].nodes[0].node = evil;
  report.charts = {{.title = evil, .x = {.label = evil}, .y = {.label = evil}, .lines = {{.label = evil}}}};
  const std::string html = render_html_report(report);
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(html.find("onerror='"), std::string::npos);
  EXPECT_NE(html.find("&lt;img src=x"), std::string::npos);
}

TEST(HtmlReport, LeavesOutWhatHasNoData) {
  const std::string html = render_html_report({.title = "empty"});
  EXPECT_EQ(html.find("<section>"), std::string::npos);
  EXPECT_TRUE(html.ends_with("</html>\n"));
}

TEST(HtmlReport, DrawsGrowthOnLogarithmicAxes) {
  ReportData report{.title = "bench"};
  report.charts = {{.title = "Time per decision",
                    .x = {.label = "nodes", .scale = Scale::logarithmic},
                    .y = {.label = "µs", .scale = Scale::logarithmic},
                    .lines = {{.label = "greedy", .colour = 1, .points = {{10, 1}, {10000, 900}}}}}};
  const std::string html = render_html_report(report);
  EXPECT_NE(html.find("Time per decision"), std::string::npos);
  EXPECT_NE(html.find(">10000<"), std::string::npos);
}

TEST(HtmlReport, ShowsTablesOfAnyShapeAndEscapesThem) {
  ReportData report{.title = "figure"};
  report.tables = {
      {"Reward <r>", {{{"epoch"}, {"policy", Align::left}}, {{{"300"}, {"drs & co"}}, {{"1"}}}, {"a note"}}}};
  const std::string html = render_html_report(report);
  EXPECT_NE(html.find("<h3>Reward &lt;r&gt;</h3>"), std::string::npos);
  EXPECT_NE(html.find("<td>300</td><td style=\"text-align:left\">drs &amp; co</td>"), std::string::npos);
  EXPECT_NE(html.find("<td>1</td><td style=\"text-align:left\"></td>"), std::string::npos);
  EXPECT_NE(html.find("a note"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::reporting
