#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::reporting {

// Charts as inline SVG: no script, colours by the custom properties of palette_css(), every string escaped.

enum class Scale { linear, logarithmic };             // logarithmic leaves out values that are not positive
enum class AxisFormat { number, percent, duration };  // percent: 0.2 is shown as 20 %; duration: in seconds

struct ChartAxis {
  std::string label{};
  Scale scale = Scale::linear;
  AxisFormat format = AxisFormat::number;
  std::optional<double> low{}, high{};  // absent: from the data
};

struct ChartPoint {
  double x = 0.0, y = 0.0;
};

struct ChartLine {
  std::string label{};
  int colour = 0;                    // slot of the palette
  bool reference = false;            // drawn thinner: a yardstick
  bool markers = false;              // a dot at each point, for few points
  std::vector<ChartPoint> points{};  // by ascending x; a point that is not finite is a gap
};

struct LineChart {
  std::string title{};  // also what a screen reader says
  ChartAxis x{}, y{};
  std::vector<ChartLine> lines{};
  int width = 760, height = 300;
};

// Axes, ticks, grid, lines and a label at the end of each. Lines of many points are averaged down to the
// pixels.
std::string svg_line_chart(const LineChart& chart);

struct SparkChart {
  std::string title{};
  double x_low = 0.0, x_high = 1.0;
  double y_high = 1.0;  // the bottom is 0
  std::vector<ChartLine> lines{};
  int width = 220, height = 84;
};

// A small multiple: title, frame, a line at 80 % of y_high 1, no ticks; the surrounding text gives the scale.
std::string svg_spark_chart(const SparkChart& chart);

struct HeatRow {
  std::string label{};
  std::vector<double> values{};  // 0..1, evenly spaced in time
};

struct HeatChart {
  std::string title{};
  std::vector<HeatRow> rows{};
  double x_low = 0.0, x_high = 1.0;  // seconds
  int width = 760, row_height = 9;
};

// One row per node, time to the right, darker is busier.
std::string svg_heat_chart(const HeatChart& chart);

// The classes the charts use; goes into a <style> after palette_css().
std::string_view chart_css();

// A chart as a file of its own.
std::string svg_document(std::string_view chart);

}  // namespace evenkeel::reporting
