#include "reporting/svg_chart.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace evenkeel::reporting {
namespace {

std::size_t occurrences(const std::string& text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

LineChart two_lines() {
  return {.title = "Imbalance <over> time",
          .x = {.label = "t"},
          .y = {.label = "imbalance"},
          .lines = {{.label = "a & b", .colour = 0, .points = {{0, 1}, {1, 2}}},
                    {.label = "greedy", .colour = 1, .points = {{0, 2}, {1, 2.01}}}}};
}

TEST(SvgLineChart, DrawsALineAndALabelForEachSeries) {
  const std::string svg = svg_line_chart(two_lines());
  EXPECT_EQ(occurrences(svg, "class=\"line s"), 2u);
  EXPECT_EQ(occurrences(svg, "class=\"label f"), 2u);
  EXPECT_NE(svg.find("stroke-dasharray"), std::string::npos) << "lines must differ in more than hue";
}

TEST(SvgLineChart, EscapesEveryString) {
  const std::string svg = svg_line_chart(two_lines());
  EXPECT_EQ(svg.find("<over>"), std::string::npos);
  EXPECT_NE(svg.find("Imbalance &lt;over&gt; time"), std::string::npos);
  EXPECT_NE(svg.find("a &amp; b"), std::string::npos);
}

TEST(SvgLineChart, BreaksTheLineWhereAPointIsMissing) {
  LineChart chart = two_lines();
  chart.lines = {{.label = "gap", .points = {{0, 1}, {1, 1}, {2, NAN}, {3, 1}, {4, 1}}}};
  const std::string svg = svg_line_chart(chart);
  const std::string path = svg.substr(svg.find("class=\"line"));
  EXPECT_EQ(occurrences(path.substr(0, path.find("/>")), "M"), 2u);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(SvgLineChart, KeepsAMillionSamplesSmall) {
  LineChart chart = two_lines();
  chart.lines.resize(1);
  chart.lines[0].points.clear();
  for (int i = 0; i < 1'000'000; ++i)
    chart.lines[0].points.push_back({static_cast<double>(i), std::sin(i * 1e-5)});
  EXPECT_LT(svg_line_chart(chart).size(), 12'000u);
}

TEST(SvgLineChart, DrawsAnEmptyChartWithoutData) {
  const std::string svg = svg_line_chart({.title = "nothing yet"});
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(SvgLineChart, LeavesWhatIsNotPositiveOffALogarithmicScale) {
  LineChart chart{.title = "growth",
                  .x = {.label = "nodes", .scale = Scale::logarithmic},
                  .y = {.label = "us", .scale = Scale::logarithmic},
                  .lines = {{.label = "greedy", .markers = true, .points = {{10, 0}, {100, 2}, {1000, 20}}}}};
  EXPECT_EQ(occurrences(svg_line_chart(chart), "<circle"), 2u);
}

TEST(SvgHeatChart, JoinsNeighboursOfOneLevel) {
  const HeatChart calm{.title = "CPU", .rows = {{"n1", std::vector<double>(1000, 0.5)}}, .x_high = 60};
  EXPECT_EQ(occurrences(svg_heat_chart(calm), "<rect"), 1u);
  const HeatChart broken{.title = "CPU", .rows = {{"n1", {NAN, 7.0, -1.0}}, {"n2", {}}}};
  EXPECT_EQ(occurrences(svg_heat_chart(broken), "<rect"), 3u);
}

TEST(SvgDocument, CarriesItsOwnColours) {
  const std::string file = svg_document(svg_line_chart(two_lines()));
  EXPECT_TRUE(file.starts_with("<svg "));
  EXPECT_NE(file.find("--series-0"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::reporting
