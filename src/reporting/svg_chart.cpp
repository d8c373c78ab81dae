#include "reporting/svg_chart.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "reporting/chart_axis.h"
#include "reporting/number_format.h"
#include "reporting/web_assets.h"

namespace evenkeel::reporting {
namespace {

constexpr std::size_t kMaxHeatColumns = 160;
constexpr int kHeatLevels = 10;
constexpr double kOverload = 0.8;

std::string px(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.1f", value);
  return buffer;
}

std::string opening(std::string_view title, int width, int height) {
  const std::string size = std::to_string(width) + " " + std::to_string(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" aria-label=\"" +
         escape_html(title) + "\" viewBox=\"0 0 " + size + "\" width=\"" + std::to_string(width) +
         "\" height=\"" + std::to_string(height) + "\">\n";
}

std::string text_at(double x, double y, std::string_view css_class, std::string_view text) {
  return "<text class=\"" + std::string(css_class) + "\" x=\"" + px(x) + "\" y=\"" + px(y) + "\">" +
         escape_html(text) + "</text>\n";
}

std::string segment(double x1, double y1, double x2, double y2, std::string_view css_class) {
  return "<path class=\"" + std::string(css_class) + "\" d=\"M" + px(x1) + " " + px(y1) + "L" + px(x2) + " " +
         px(y2) + "\"/>\n";
}

// Neighbours are averaged, so a line of a million samples looks as it would at full length, without the file
// size.
std::vector<ChartPoint> thinned(const std::vector<ChartPoint>& points, std::size_t limit) {
  if (points.size() <= limit) return points;
  std::vector<ChartPoint> thin;
  for (std::size_t bucket = 0; bucket < limit; ++bucket) {
    const std::size_t begin = bucket * points.size() / limit, end = (bucket + 1) * points.size() / limit;
    ChartPoint mean;
    for (std::size_t i = begin; i < end; ++i) {
      mean.x += points[i].x;
      mean.y += points[i].y;
    }
    const auto count = static_cast<double>(end - begin);
    thin.push_back({mean.x / count, mean.y / count});
  }
  thin.front() = points.front();
  thin.back() = points.back();
  return thin;
}

std::string line_class(const ChartLine& line) {
  return "line s" + std::to_string(line.colour % kSeriesColours) + (line.reference ? " reference" : "");
}

// More points than one per two pixels cannot be seen.
std::string path_of(const ChartLine& line, const AxisMapping& x, const AxisMapping& y, int width) {
  std::string path, dots;
  bool pen_is_down = false;
  for (const ChartPoint& point : thinned(line.points, static_cast<std::size_t>(std::max(width, 4)) / 2)) {
    if (!x.can_show(point.x) || !y.can_show(point.y)) {
      pen_is_down = false;
      continue;
    }
    const std::string at = px(x.pixel(point.x)) + " " + px(y.pixel(point.y));
    path += (pen_is_down ? "L" : "M") + at;
    pen_is_down = true;
    if (line.markers)
      dots += "<circle class=\"dot f" + std::to_string(line.colour % kSeriesColours) + "\" cx=\"" +
              px(x.pixel(point.x)) + "\" cy=\"" + px(y.pixel(point.y)) + "\" r=\"3\"/>\n";
  }
  if (path.empty()) return {};
  const std::string_view dash = dash_of_slot(line.colour);
  const std::string dashes = dash.empty() ? "" : " stroke-dasharray=\"" + std::string(dash) + "\"";
  return "<path class=\"" + line_class(line) + "\"" + dashes + " d=\"" + path + "\"/>\n" + dots;
}

std::vector<double> all_values(const std::vector<ChartLine>& lines, double ChartPoint::* member) {
  std::vector<double> values;
  for (const ChartLine& line : lines) {
    for (const ChartPoint& point : line.points) values.push_back(point.*member);
  }
  return values;
}

// Labels stand at the ends of their lines, pushed apart where the lines end close together.
std::string end_labels(const LineChart& chart, const AxisMapping& y, double x, double top, double bottom) {
  struct Label {
    const ChartLine* line;
    double y;
  };
  std::vector<Label> labels;
  for (const ChartLine& line : chart.lines) {
    const auto last = std::find_if(line.points.rbegin(), line.points.rend(),
                                   [&](const ChartPoint& point) { return y.can_show(point.y); });
    if (last != line.points.rend()) labels.push_back({&line, y.pixel(last->y)});
  }
  std::sort(labels.begin(), labels.end(),
            [](const Label& a, const Label& b) { return a.y != b.y ? a.y < b.y : a.line < b.line; });
  constexpr double kLabelHeight = 14.0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double above = i == 0 ? top : labels[i - 1].y + kLabelHeight;
    labels[i].y = std::max(labels[i].y, above);
  }
  const double overhang = labels.empty() ? 0.0 : std::max(0.0, labels.back().y - bottom);
  std::string text;
  for (const Label& label : labels) {
    const int slot = label.line->colour % kSeriesColours;
    text += text_at(x + 8, label.y - overhang + 4, "label f" + std::to_string(slot), label.line->label);
  }
  return text;
}

double label_room(const std::vector<ChartLine>& lines) {
  std::size_t longest = 0;
  for (const ChartLine& line : lines) longest = std::max(longest, line.label.size());
  return 16.0 + 7.0 * static_cast<double>(std::min<std::size_t>(longest, 28));
}

}  // namespace

std::string svg_line_chart(const LineChart& chart) {
  const double left = 62, top = 30, right = chart.width - label_room(chart.lines), bottom = chart.height - 42;
  const AxisMapping x(chart.x, all_values(chart.lines, &ChartPoint::x), left, right);
  const AxisMapping y(chart.y, all_values(chart.lines, &ChartPoint::y), bottom, top);

  std::string svg = opening(chart.title, chart.width, chart.height) + text_at(0, 14, "title", chart.title);
  for (const Tick& tick : y.ticks()) {
    svg += segment(left, y.pixel(tick.value), right, y.pixel(tick.value), "grid");
    svg += text_at(left - 6, y.pixel(tick.value) + 4, "tick end", tick.text);
  }
  for (const Tick& tick : x.ticks()) {
    svg += segment(x.pixel(tick.value), bottom, x.pixel(tick.value), bottom + 4, "axis");
    svg += text_at(x.pixel(tick.value), bottom + 17, "tick middle", tick.text);
  }
  svg += segment(left, bottom, right, bottom, "axis");
  svg += text_at((left + right) / 2, chart.height - 6, "tick middle", chart.x.label);
  svg += "<text class=\"tick middle\" transform=\"translate(12 " + px((top + bottom) / 2) +
         ") rotate(-90)\">" + escape_html(chart.y.label) + "</text>\n";
  for (const ChartLine& line : chart.lines) svg += path_of(line, x, y, chart.width);
  return svg + end_labels(chart, y, right, top, bottom) + "</svg>\n";
}

std::string svg_spark_chart(const SparkChart& chart) {
  const double top = 18, bottom = chart.height - 2.0, right = chart.width - 1.0;
  const ChartAxis x_axis{.label = {}, .low = chart.x_low, .high = chart.x_high};
  const ChartAxis y_axis{.label = {}, .low = 0.0, .high = chart.y_high};
  const AxisMapping x(x_axis, {}, 1, right), y(y_axis, {}, bottom, top);
  std::string svg = opening(chart.title, chart.width, chart.height) + text_at(1, 12, "small", chart.title);
  svg += "<rect class=\"frame\" x=\"0.5\" y=\"" + px(top) + "\" width=\"" + px(right) + "\" height=\"" +
         px(bottom - top) + "\"/>\n";
  svg += segment(1, y.pixel(kOverload), right, y.pixel(kOverload), "limit");
  for (const ChartLine& line : chart.lines) svg += path_of(line, x, y, chart.width);
  return svg + "</svg>\n";
}

std::string svg_heat_chart(const HeatChart& chart) {
  const double left = 110, top = 24, right = chart.width;
  const int height = static_cast<int>(top) + static_cast<int>(chart.rows.size()) * chart.row_height + 22;
  std::string svg = opening(chart.title, chart.width, height) + text_at(0, 14, "title", chart.title);
  for (std::size_t r = 0; r < chart.rows.size(); ++r) {
    const std::vector<double>& values = chart.rows[r].values;
    const double y = top + static_cast<double>(r) * chart.row_height;
    svg += text_at(left - 6, y + chart.row_height - 1, "tiny end", chart.rows[r].label);
    const std::size_t columns = std::min(values.size(), kMaxHeatColumns);
    const auto level_of = [&](std::size_t column) {
      const std::size_t begin = column * values.size() / columns,
                        end = (column + 1) * values.size() / columns;
      double total = 0.0;
      for (std::size_t i = begin; i < end; ++i) total += std::isfinite(values[i]) ? values[i] : 0.0;
      const double mean = total / static_cast<double>(end - begin);
      return static_cast<int>(std::lround(std::clamp(mean, 0.0, 1.0) * kHeatLevels));
    };
    const auto x_of = [&](std::size_t column) {
      return left + (right - left) * static_cast<double>(column) / static_cast<double>(columns);
    };
    // Runs of one level are one rectangle: most rows are calm most of the time.
    for (std::size_t begin = 0, end = 0; begin < columns; begin = end) {
      const int level = level_of(begin);
      for (end = begin + 1; end < columns && level_of(end) == level;) ++end;
      svg += "<rect class=\"h" + std::to_string(level) + "\" x=\"" + px(x_of(begin)) + "\" y=\"" + px(y) +
             "\" width=\"" + px(x_of(end) - x_of(begin)) + "\" height=\"" + px(chart.row_height - 1) +
             "\"/>\n";
    }
  }
  svg += text_at(left, height - 6, "tick", format_duration(chart.x_low));
  svg += text_at(right, height - 6, "tick end", format_duration(chart.x_high));
  return svg + "</svg>\n";
}

std::string_view chart_css() {
  return R"css(
.chart { display: block; max-width: 100%; height: auto; font: 12px system-ui, sans-serif; }
.chart text { fill: var(--muted); font-variant-numeric: tabular-nums; }
.chart .title { fill: var(--text); font-weight: 600; font-size: 13px; }
.chart .small { fill: var(--text); font-size: 11px; }
.chart .tiny { font-size: 8.5px; }
.chart .end { text-anchor: end; }
.chart .middle { text-anchor: middle; }
.chart .label { font-weight: 600; }
.chart path { fill: none; }
.chart .grid { stroke: var(--grid); }
.chart .axis { stroke: var(--muted); }
.chart .limit { stroke: var(--muted); stroke-dasharray: 2 3; stroke-width: 0.8; }
.chart .frame { fill: none; stroke: var(--line); }
.chart .line { stroke-width: 1.8; stroke-linejoin: round; }
.chart .reference { stroke-width: 1.1; }
.chart .s0 { stroke: var(--series-0); } .chart .f0 { fill: var(--series-0); }
.chart .s1 { stroke: var(--series-1); } .chart .f1 { fill: var(--series-1); }
.chart .s2 { stroke: var(--series-2); } .chart .f2 { fill: var(--series-2); }
.chart .s3 { stroke: var(--series-3); } .chart .f3 { fill: var(--series-3); }
.chart .s4 { stroke: var(--series-4); } .chart .f4 { fill: var(--series-4); }
.chart .s5 { stroke: var(--series-5); } .chart .f5 { fill: var(--series-5); }
.chart .s6 { stroke: var(--series-6); } .chart .f6 { fill: var(--series-6); }
.chart .s7 { stroke: var(--series-7); } .chart .f7 { fill: var(--series-7); }
.chart .h0 { fill: var(--track); }
.chart .h1 { fill: var(--series-0); opacity: 0.10; } .chart .h2 { fill: var(--series-0); opacity: 0.20; }
.chart .h3 { fill: var(--series-0); opacity: 0.30; } .chart .h4 { fill: var(--series-0); opacity: 0.42; }
.chart .h5 { fill: var(--series-0); opacity: 0.55; } .chart .h6 { fill: var(--series-0); opacity: 0.70; }
.chart .h7 { fill: var(--series-0); opacity: 0.85; } .chart .h8 { fill: var(--load-high); opacity: 0.8; }
.chart .h9 { fill: var(--load-high); } .chart .h10 { fill: var(--load-over); }
)css";
}

std::string svg_document(std::string_view chart) {
  const std::size_t end_of_tag = chart.find('>');
  if (end_of_tag == std::string_view::npos) return std::string(chart);
  return std::string(chart.substr(0, end_of_tag + 1)) + "<style>" + std::string(palette_css()) +
         std::string(chart_css()) + "</style>" + std::string(chart.substr(end_of_tag + 1));
}

}  // namespace evenkeel::reporting
