#include "reporting/html_report.h"

#include <algorithm>
#include <cmath>

#include "reporting/dashboard_state.h"
#include "reporting/number_format.h"
#include "reporting/web_assets.h"

namespace evenkeel::reporting {
namespace {

constexpr std::size_t kNodesAsSmallCharts = 12;  // more nodes than that are drawn as a heat map
constexpr std::size_t kHeatRows = 40;
constexpr std::size_t kMaxCdfPoints = 300;

constexpr std::string_view kPageCss = R"css(
body { margin: 0 auto; max-width: 1080px; padding: 24px; background: var(--page); color: var(--text);
       font: 14px/1.45 system-ui, sans-serif; }
h1 { font-size: 22px; margin: 0 0 4px; } h2 { font-size: 16px; margin: 28px 0 8px; } h3 { font-size: 14px; margin: 14px 0 6px; }
section, .facts { background: var(--surface); border: 1px solid var(--line); border-radius: 6px; padding: 14px 16px; margin: 0 0 14px; }
section h2 { margin-top: 0; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: 3px 16px; margin-top: 12px; }
.facts dt { color: var(--muted); } .facts dd { margin: 0; overflow-wrap: anywhere; }
code { font: 12.5px ui-monospace, monospace; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 12px 5px 0; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child, tbody th { text-align: left; font-weight: 500; }
thead th { color: var(--muted); font-weight: 500; vertical-align: bottom; }
.best { font-weight: 700; } .best::after { content: " ★"; color: var(--good); }
.best-rule::after { content: " ☆"; color: var(--muted); }
.reference, .reference th { color: var(--muted); }
.badge { font-size: 11px; border: 1px solid var(--line); border-radius: 3px; padding: 0 5px; margin-left: 6px; color: var(--muted); }
.small-charts { display: flex; flex-wrap: wrap; gap: 10px 14px; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; color: var(--muted); font-size: 12px; margin: 0 0 8px; }
.legend svg { vertical-align: middle; margin-right: 5px; }
.hint { color: var(--muted); font-size: 12.5px; margin: 6px 0 0; }
)css";

// Of the six dimensions and the mean of all, for the small charts.
constexpr std::array<int, 6> kDimensionColours = {0, 1, 2, 3, 4, 5};
constexpr int kMeanColour = 6;

std::string fact(std::string_view name, std::string_view value, std::string_view tag = "span") {
  if (value.empty()) return {};
  return "<dt>" + escape_html(name) + "</dt><dd><" + std::string(tag) + ">" + escape_html(value) + "</" +
         std::string(tag) + "></dd>\n";
}

std::string seeds_text(const std::vector<std::uint64_t>& seeds) {
  std::string text;
  for (const std::uint64_t seed : seeds) text += (text.empty() ? "" : ", ") + std::to_string(seed);
  return text;
}

std::string section(std::string_view heading, const std::string& body, std::string_view hint = {}) {
  if (body.empty()) return {};
  const std::string note = hint.empty() ? "" : "<p class=\"hint\">" + escape_html(hint) + "</p>\n";
  return "<section><h2>" + escape_html(heading) + "</h2>\n" + body + note + "</section>\n";
}

std::string cell_class(CellMarks marks) {
  if (marks.best) return " class=\"best\"";
  return marks.best_rule ? " class=\"best-rule\"" : "";
}

std::vector<int> colours_of(const ReportData& report) {
  std::vector<std::string> policies;
  for (const PolicyRun& run : report.runs) policies.push_back(run.policy);
  return colour_slots(policies);
}

ChartLine line_of(const PolicyRun& run, int colour, std::vector<ChartPoint> points) {
  return {run.policy, colour, run.kind == PolicyKind::reference, false, std::move(points)};
}

std::string imbalance_chart(const ReportData& report, const std::vector<int>& colours) {
  LineChart chart{.title = "Imbalance over time",
                  .x = {.label = "virtual time", .format = AxisFormat::duration},
                  .y = {.label = "imbalance", .low = 0.0},
                  .lines = {},
                  .width = 1040};
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    if (report.runs[i].imbalance.empty()) continue;
    chart.lines.push_back(line_of(report.runs[i], colours[i], report.runs[i].imbalance));
  }
  return chart.lines.empty() ? "" : svg_line_chart(chart);
}

// The share of pods answered within x, at evenly spaced shares.
std::vector<ChartPoint> distribution_of(std::vector<double> samples) {
  std::erase_if(samples, [](double sample) { return !std::isfinite(sample); });
  std::sort(samples.begin(), samples.end());
  std::vector<ChartPoint> points;
  const std::size_t count = std::min(samples.size(), kMaxCdfPoints);
  for (std::size_t k = 1; k <= count; ++k) {
    const std::size_t rank = k * samples.size() / count;
    points.push_back({samples[rank - 1], static_cast<double>(rank) / static_cast<double>(samples.size())});
  }
  return points;
}

std::string response_chart(const ReportData& report, const std::vector<int>& colours) {
  LineChart chart{.title = "Response times: share of pods finished within",
                  .x = {.label = "from arrival to completion", .format = AxisFormat::duration, .low = 0.0},
                  .y = {.label = "share of pods", .format = AxisFormat::percent, .low = 0.0, .high = 1.0},
                  .lines = {},
                  .width = 1040};
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    std::vector<ChartPoint> points = distribution_of(report.runs[i].response_s);
    if (!points.empty()) chart.lines.push_back(line_of(report.runs[i], colours[i], std::move(points)));
  }
  return chart.lines.empty() ? "" : svg_line_chart(chart);
}

double value_at(const std::vector<double>& values, std::size_t i) {
  return i < values.size() ? values[i] : NAN;
}

std::vector<double> mean_over_dimensions(const NodeUsage& node) {
  std::vector<double> means(node.at_s.size());
  for (std::size_t i = 0; i < means.size(); ++i) {
    double total = 0.0;
    for (const auto& values : node.utilization) total += value_at(values, i);
    means[i] = total / static_cast<double>(node.utilization.size());
  }
  return means;
}

std::vector<ChartPoint> points_of(const NodeUsage& node, const std::vector<double>& values) {
  std::vector<ChartPoint> points;
  for (std::size_t i = 0; i < node.at_s.size(); ++i) points.push_back({node.at_s[i], value_at(values, i)});
  return points;
}

std::string small_chart(const NodeUsage& node) {
  SparkChart chart{.title = node.node, .lines = {}, .width = 244, .height = 118};
  if (!node.at_s.empty()) {
    chart.x_low = node.at_s.front();
    chart.x_high = std::max(node.at_s.back(), node.at_s.front() + 1e-9);
  }
  for (std::size_t d = 0; d < kDimensions.size(); ++d) {
    chart.lines.push_back(
        {kDimensions[d], kDimensionColours[d], true, false, points_of(node, node.utilization[d])});
  }
  chart.lines.push_back({"mean", kMeanColour, false, false, points_of(node, mean_over_dimensions(node))});
  return svg_spark_chart(chart);
}

std::string dimension_legend() {
  const auto entry = [](std::string_view name, int colour, bool thin) {
    const std::string_view dash = dash_of_slot(colour);
    return "<span><svg class=\"chart\" style=\"display:inline\" width=\"26\" height=\"8\" "
           "aria-hidden=\"true\">"
           "<path class=\"line s" +
           std::to_string(colour) + (thin ? " reference" : "") + "\" d=\"M0 4L26 4\"" +
           (dash.empty() ? "" : " stroke-dasharray=\"" + std::string(dash) + "\"") + "/></svg>" +
           escape_html(name) + "</span>\n";
  };
  std::string legend = "<p class=\"legend\">";
  for (std::size_t d = 0; d < kDimensions.size(); ++d)
    legend += entry(kDimensions[d], kDimensionColours[d], true);
  return legend + entry("mean of the six", kMeanColour, false) + "</p>\n";
}

double mean_of(const std::vector<double>& values) {
  double total = 0.0;
  for (const double value : values) total += std::isfinite(value) ? value : 0.0;
  return values.empty() ? 0.0 : total / static_cast<double>(values.size());
}

// The nodes at both ends matter most, but a sample across all shows the spread: busiest first, evenly
// thinned.
std::string heat_chart(const PolicyRun& run, std::size_t dimension) {
  std::vector<const NodeUsage*> nodes;
  for (const NodeUsage& node : run.nodes) nodes.push_back(&node);
  std::sort(nodes.begin(), nodes.end(), [dimension](const NodeUsage* a, const NodeUsage* b) {
    const double busy_a = mean_of(a->utilization[dimension]), busy_b = mean_of(b->utilization[dimension]);
    return busy_a != busy_b ? busy_a > busy_b : a < b;  // equals keep their order: they lie in one array
  });
  const std::size_t rows = std::min(nodes.size(), kHeatRows);
  HeatChart chart{.title = std::string(kDimensions[dimension]) + ": " + std::to_string(rows) + " of " +
                           std::to_string(nodes.size()) + " nodes, busiest first",
                  .rows = {},
                  .width = 1040};
  for (std::size_t r = 0; r < rows; ++r) {
    const NodeUsage& node = *nodes[r * nodes.size() / rows];
    chart.rows.push_back({node.node, node.utilization[dimension]});
    if (!node.at_s.empty()) chart.x_high = std::max(chart.x_high, node.at_s.back());
  }
  return svg_heat_chart(chart);
}

std::string node_charts(const ReportData& report) {
  std::string body;
  bool has_small_charts = false;
  for (const PolicyRun& run : report.runs) {
    if (run.nodes.empty()) continue;
    body += "<h3>" + escape_html(run.policy) + "</h3>\n";
    if (run.nodes.size() > kNodesAsSmallCharts) {
      body += heat_chart(run, 0) + heat_chart(run, 1);
      continue;
    }
    has_small_charts = true;
    body += "<div class=\"small-charts\">\n";
    for (const NodeUsage& node : run.nodes) body += small_chart(node);
    body += "</div>\n";
  }
  return has_small_charts ? dimension_legend() + body : body;
}

// The page aligns to the right but for the first column: other columns of words say so themselves.
std::string plain_table(const CaptionedTable& captioned) {
  const TextTable& table = captioned.table;
  const auto cell = [&](const char* tag, std::size_t column, const std::string& text) {
    const bool left = column < table.columns.size() && table.columns[column].align == Align::left;
    return std::string("<") + tag + (left ? " style=\"text-align:left\">" : ">") + escape_html(text) + "</" +
           tag + ">";
  };
  std::string html = captioned.caption.empty() ? "" : "<h3>" + escape_html(captioned.caption) + "</h3>\n";
  html += "<div class=\"scroll\"><table>\n<thead><tr>";
  for (std::size_t c = 0; c < table.columns.size(); ++c) html += cell("th", c, table.columns[c].header);
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<TextCell>& row : table.rows) {
    html += "<tr>";
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      html += cell("td", c, c < row.size() ? row[c].text : "");
    html += "</tr>\n";
  }
  html += "</tbody></table></div>\n";
  for (const std::string& note : table.notes) html += "<p class=\"hint\">" + escape_html(note) + "</p>\n";
  return html;
}

std::string notes_list(const std::vector<std::string>& notes) {
  if (notes.empty()) return {};
  std::string list = "<ul>\n";
  for (const std::string& note : notes) list += "<li>" + escape_html(note) + "</li>\n";
  return list + "</ul>\n";
}

}  // namespace

std::string render_html_table(const TableView& table) {
  if (table.rows.empty()) return {};
  std::string html = "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">Policy</th>";
  for (const TableColumn& column : table.columns) {
    const char* arrow = column.better == Better::lower ? " ↓" : column.better == Better::higher ? " ↑" : "";
    html += "<th scope=\"col\" title=\"" + escape_html(column.metric) + "\">" + escape_html(column.label) +
            arrow + "</th>";
  }
  html += "</tr></thead>\n<tbody>\n";
  const auto marks = mark_best(table);
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const TableRow& row = table.rows[r];
    const bool is_reference = row.kind == PolicyKind::reference;
    html += is_reference ? "<tr class=\"reference\">" : "<tr>";
    html += "<th scope=\"row\">" + escape_html(row.policy);
    if (is_reference) html += "<span class=\"badge\">reference</span>";
    if (row.kind == PolicyKind::learned) html += "<span class=\"badge\">learned</span>";
    html += "</th>";
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const std::string value = c < row.cells.size() ? format_cell(row.cells[c]) : format_cell(std::nullopt);
      html += "<td" + cell_class(marks[r][c]) + ">" + escape_html(value) + "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string render_html_report(const ReportData& report) {
  const std::vector<int> colours = colours_of(report);
  std::string charts, tables;
  for (const CaptionedTable& table : report.tables) tables += plain_table(table);
  for (const LineChart& chart : report.charts) charts += svg_line_chart(chart);

  std::string html =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n"
      "<title>" +
      escape_html(report.title) + "</title>\n<style>\n";
  html += std::string(palette_css()) + std::string(kPageCss) + std::string(chart_css());
  html += "</style>\n</head>\n<body>\n<h1>" + escape_html(report.title) + "</h1>\n<dl class=\"facts\">\n";
  html += fact("Scenario", report.scenario) + fact("Data", report.source) +
          fact("Seeds", seeds_text(report.seeds)) + fact("Command", report.command, "code") +
          fact("Version", report.version) + "</dl>\n";
  html +=
      section("Policies side by side", render_html_table(report.table),
              "Mean ± standard deviation over the seeds. ★ best of the policies that could be run for real, "
              "☆ best simple rule where a learned policy is best. References see the future: limits, not "
              "contenders.");
  html += section("Tables", tables);
  html += section("Imbalance", imbalance_chart(report, colours),
                  "Smaller is more even. The first seed is drawn.");
  html += section("Response times", response_chart(report, colours), "Further left is faster.");
  html += section("Utilisation per node", node_charts(report),
                  "Each frame reaches from 0 to 100 %; the dotted line is at 80 %, above which a node counts "
                  "as overloaded.");
  html += section(report.charts_title, charts);
  html += section("Notes", notes_list(report.notes));
  return html + "</body>\n</html>\n";
}

}  // namespace evenkeel::reporting
