#include "apps/scaling_charts.h"

#include <algorithm>
#include <map>

namespace evenkeel::apps {
namespace {

using reporting::AxisFormat;
using reporting::ChartAxis;
using reporting::ChartLine;
using reporting::ChartPoint;
using reporting::LineChart;
using reporting::Scale;
using training::PolicyResult;

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
  chart.y = ChartAxis{"time above the bound", Scale::linear, AxisFormat::percent, 0.0, {}};
  chart.height = 420;
  std::vector<std::string> families;
  std::map<std::string, ChartLine> lines;
  for (const PolicyResult& policy : policies) {
    const std::string family = family_of(policy.policy);
    if (!lines.contains(family)) families.push_back(family);
    ChartLine& line = lines[family];
    line.label = family;
    line.colour = static_cast<int>(std::find(families.begin(), families.end(), family) - families.begin());
    line.reference = policy.reference;
    line.markers = true;
    line.points.push_back({spread_of(policy, "replicas_mean").mean, spread_of(policy, "sla_violation").mean});
  }
  for (const std::string& family : families) {
    ChartLine& line = lines[family];
    std::sort(line.points.begin(), line.points.end(),
              [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; });
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

}  // namespace evenkeel::apps
