#include "apps/scaling_charts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "reporting/number_format.h"

namespace evenkeel::apps {
namespace {

using reporting::AxisFormat;
using reporting::ChartAxis;
using reporting::ChartLine;
using reporting::ChartPoint;
using reporting::LineChart;
using reporting::Scale;
using training::PolicyResult;

constexpr double kNoViolation = 1e-4, kFarOff = 1.5;
constexpr std::size_t kRoomUnderAxis = 100;  // letters that a chart's page does not cut off

LineChart over_time(std::string title, std::string what) {
  LineChart chart;
  chart.title = std::move(title);
  chart.x = ChartAxis{"time", Scale::linear, AxisFormat::duration, {}, {}};
  chart.y = ChartAxis{std::move(what), Scale::linear, AxisFormat::number, 0.0, {}};
  return chart;
}

ChartLine line_of(const PolicyResult& policy, std::size_t colour, auto value) {
  ChartLine line;
  line.label = policy.policy;
  line.colour = static_cast<int>(colour);
  line.reference = policy.reference;
  for (const simulator::ServicePoint& point : policy.runs.front().requests)
    line.points.push_back({point.at_s, value(point)});
  return line;
}

// "hpa+target=85+down=60s" belongs to "hpa+down=60s": all but the target is the family.
std::string family_of(const std::string& policy) {
  std::string family = policy;
  for (const char* moved : {"+target=", "+level="}) {
    const std::size_t at = family.find(moved);
    if (at == std::string::npos) continue;
    const std::size_t end = family.find('+', at + 1);
    family.erase(at, end == std::string::npos ? end : end - at);
  }
  return family;
}

// Short enough for the margin: "hpa, 60s".
std::string label_of(std::string family) {
  constexpr std::string_view kDown = "+down=";
  if (const std::size_t at = family.find(kDown); at != std::string::npos)
    family.replace(at, kDown.size(), ", ");
  return family;
}

}  // namespace

std::vector<LineChart> scaling_charts(const training::Evaluation& evaluation) {
  const auto kept = [](const PolicyResult& policy) {
    return !policy.runs.empty() && !policy.runs.front().requests.empty();
  };
  if (std::none_of(evaluation.policies.begin(), evaluation.policies.end(), kept)) return {};
  std::vector<LineChart> charts = {over_time(evaluation.scenario + ": requests per second", "requests/s"),
                                   over_time(evaluation.scenario + ": replicas", "replicas"),
                                   over_time(evaluation.scenario + ": response, p95", "seconds")};
  charts[2].y.scale = Scale::logarithmic;
  charts[2].y.low.reset();
  for (std::size_t i = 0; i < evaluation.policies.size(); ++i) {
    const PolicyResult& policy = evaluation.policies[i];
    if (!kept(policy)) continue;
    if (charts[0].lines.empty()) {
      charts[0].lines.push_back(line_of(policy, 0, [](const auto& point) { return point.requests_per_s; }));
      charts[0].lines.back().label = "requests";
    }
    charts[1].lines.push_back(
        line_of(policy, i, [](const auto& point) { return static_cast<double>(point.wanted); }));
    charts[2].lines.push_back(line_of(policy, i, [](const auto& point) { return point.response_s; }));
  }
  return charts;
}

LineChart front_chart(const std::string& title, const std::vector<PolicyResult>& policies) {
  LineChart chart;
  chart.title = title;
  chart.x = ChartAxis{"replicas, mean", Scale::linear, AxisFormat::number, {}, {}};
  chart.y = ChartAxis{"time above the bound (none is drawn as 0.01 %)",
                      Scale::logarithmic,
                      AxisFormat::percent,
                      kNoViolation,
                      {}};
  chart.height = 420;
  const double hpa = policies.empty() ? 0 : spread_of(policies.front(), "replicas_mean").mean;
  std::vector<std::string> families;
  std::map<std::string, ChartLine> lines;
  std::string far;  // beside the axis they are off, as much of it as there is room for
  std::size_t more = 0;
  for (const PolicyResult& policy : policies) {
    const double replicas = spread_of(policy, "replicas_mean").mean,
                 violation = spread_of(policy, "sla_violation").mean;
    // Who has half as many again as HPA would leave no room to tell the others apart.
    if (replicas > kFarOff * hpa) {
      const std::string text = (far.empty() ? "; off to the right: " : ", ") + policy.policy + " (" +
                               reporting::format_number(replicas) + ", " +
                               reporting::format_number(std::round(1e4 * violation) / 100) + " %)";
      if (more > 0 || chart.x.label.size() + far.size() + text.size() > kRoomUnderAxis)
        ++more;
      else
        far += text;
      continue;
    }
    const std::string family = family_of(policy.policy);
    if (!lines.contains(family)) families.push_back(family);
    ChartLine& line = lines[family];
    line.label = label_of(family);
    line.colour = static_cast<int>(std::find(families.begin(), families.end(), family) - families.begin());
    line.reference = policy.reference;
    line.markers = true;
    line.points.push_back({replicas, std::max(violation, kNoViolation)});
  }
  chart.x.label += far;
  if (more > 0) chart.x.label += " and " + std::to_string(more) + " more";
  for (const std::string& family : families) {
    ChartLine& line = lines[family];
    std::sort(line.points.begin(), line.points.end(),
              [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; });
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

}  // namespace evenkeel::apps
