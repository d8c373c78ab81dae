#include "apps/scaling_view.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/version.h"
#include "base/sort_stably.h"
#include "kubernetes/scaling_status.h"
#include "reporting/number_format.h"

namespace evenkeel::apps {
namespace {

using Json = nlohmann::ordered_json;
using reporting::format_number;
constexpr std::size_t kMostPictures = 20;
constexpr std::size_t kLongestWhy = 70;

std::string dumped(const Json& value) { return value.dump(2, ' ', false, Json::error_handler_t::replace); }

std::string percent(double share) { return format_number(100 * share) + " %"; }

double saved(const ScalingRecord& record) {
  const double set = record.mean_wanted();
  return set > 0 ? 1 - record.mean_decided() / set : 0;
}

std::string shortened(std::string text) {
  if (text.size() <= kLongestWhy) return text;
  std::size_t end = kLongestWhy;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

Json json_of(const ScalingDecision& decision, bool acted) {
  Json reasons = Json::array();
  for (const ScalingReason& reason : decision.reasons)
    reasons.push_back({{"rule", reason.rule}, {"replicas", reason.replicas}, {"text", reason.text}});
  return {{"at", to_seconds(decision.at.time_since_epoch())},
          {"from", decision.from},
          {"to", decision.to},
          {"decided_by", decision.decided_by},
          {"fallback", decision.fallback},
          {"acted", acted},
          {"reasons", std::move(reasons)}};
}

Json known_or_null(float value) { return value < 0 ? Json() : Json(static_cast<double>(value)); }

reporting::ChartLine line_of(const ScalingRecord& record, const char* label, int colour,
                             float ScalingPoint::* of) {
  reporting::ChartLine line;
  line.label = label;
  line.colour = colour;
  for (std::size_t i = 0; i < record.points.size(); ++i) {
    const ScalingPoint& point = record.points[i];
    const double value = point.*of < 0 ? std::nan("") : static_cast<double>(point.*of);
    const double at = point.at_s - record.points.front().at_s;
    // Replicas change at once: a step, not a slope.
    const bool is_step = of == &ScalingPoint::wanted || of == &ScalingPoint::decided;
    if (is_step && i > 0) line.points.push_back({at, line.points.back().y});
    line.points.push_back({at, value});
  }
  return line;
}

void add_charts(const ScalingRecord& record, std::vector<reporting::LineChart>& charts) {
  const std::string name = record.name_space + "/" + record.name;
  reporting::LineChart replicas;
  replicas.title = name + ": replicas (" + record.kind + " " + record.target +
                   (record.other.empty() ? ")" : ", set by " + record.other + ")");
  replicas.x = {.label = "time", .format = reporting::AxisFormat::duration};
  replicas.y = {.label = "replicas", .low = 0.0};
  replicas.lines = {line_of(record, "as set", 1, &ScalingPoint::wanted),
                    line_of(record, ("by " + record.policy).c_str(), 0, &ScalingPoint::decided)};
  charts.push_back(std::move(replicas));
  const bool knows_requests =
      std::any_of(record.points.begin(), record.points.end(),
                  [](const ScalingPoint& point) { return point.requests_per_s >= 0; });
  if (!knows_requests) return;
  reporting::LineChart load;
  load.title = name + ": requests a second";
  load.x = {.label = "time", .format = reporting::AxisFormat::duration};
  load.y = {.label = "requests/s", .low = 0.0};
  load.height = 180;
  load.lines = {line_of(record, "requests/s", 2, &ScalingPoint::requests_per_s)};
  charts.push_back(std::move(load));
}

}  // namespace

reporting::TextTable scaling_table(const std::vector<ScalingRecord>& records) {
  using reporting::Align;
  reporting::TextTable table{{{"workload", Align::left},
                              {"set by", Align::left},
                              {"decided by", Align::left},
                              {"set now"},
                              {"decided"},
                              {"mean set"},
                              {"mean decided"},
                              {"saves"},
                              {"requests/s"},
                              {"response ms"},
                              {"why", Align::left}},
                             {},
                             {}};
  for (const ScalingRecord& record : records) {
    const ScalingPoint last = record.points.empty() ? ScalingPoint{} : record.points.back();
    table.rows.push_back(
        {{record.name_space + "/" + record.target},
         {record.other.empty() ? "-" : record.other},
         {record.last.decided_by},
         {std::to_string(record.last.from)},
         {std::to_string(record.last.to)},
         {format_number(record.mean_wanted())},
         {format_number(record.mean_decided())},
         {percent(saved(record))},
         {last.requests_per_s < 0 ? "–" : format_number(static_cast<double>(last.requests_per_s))},
         {last.response_s < 0 ? "–" : format_number(1000 * static_cast<double>(last.response_s))},
         {shortened(kubernetes::reasons_text(record.last))}});
  }
  table.notes.push_back(
      "mean decided: of what was decided at each moment on the workload as it was then, with as many "
      "replicas as "
      "were set; had it been done, load per replica and response times would have been others.");
  return table;
}

std::string scaling_json(const std::vector<ScalingRecord>& records, bool with_points) {
  Json all = Json::array();
  for (const ScalingRecord& record : records) {
    Json one = {{"namespace", record.name_space},
                {"name", record.name},
                {"target", record.kind + "/" + record.target},
                {"policy", record.policy},
                {"mode", record.mode},
                {"scaled_by", record.other},
                {"min_replicas", record.min_replicas},
                {"max_replicas", record.max_replicas},
                {"decisions", record.decisions},
                {"fallbacks", record.fallbacks},
                {"scalings", record.scalings},
                {"failed_scalings", record.failures},
                {"replicas_mean_set", record.mean_wanted()},
                {"replicas_mean_decided", record.mean_decided()},
                {"changes_set", record.changes_set},
                {"changes_decided", record.changes_decided},
                {"above_bound", record.above_bound()},
                {"last", json_of(record.last, record.acted)}};
    if (with_points) {
      one["points"] = Json::array();
      for (const ScalingPoint& point : record.points)
        one["points"].push_back({{"at", point.at_s},
                                 {"set", point.wanted},
                                 {"ready", point.ready},
                                 {"decided", point.decided},
                                 {"requests_per_s", known_or_null(point.requests_per_s)},
                                 {"response_s", known_or_null(point.response_s)}});
    }
    all.push_back(std::move(one));
  }
  return dumped({{"workloads", std::move(all)}});
}

std::string scaling_journal_json(const std::vector<ScalingJournalEntry>& entries) {
  Json all = Json::array();
  for (const ScalingJournalEntry& entry : entries) {
    Json one = {{"namespace", entry.name_space}, {"name", entry.name}};
    one.update(json_of(entry.decision, entry.acted));
    one["outcome"] = entry.outcome;
    all.push_back(std::move(one));
  }
  return dumped({{"decisions", std::move(all)}});
}

std::string scaling_page(const std::vector<ScalingRecord>& records, const std::string& command) {
  reporting::ReportData report;
  report.title = "What the autoscaler decided, beside what was set";
  report.command = command;
  report.version = kVersion;
  report.charts_title = "Over time";
  report.tables.push_back({"Every workload", scaling_table(records)});
  std::vector<const ScalingRecord*> shown;
  for (const ScalingRecord& record : records)
    if (record.points.size() > 1) shown.push_back(&record);
  sort_stably(shown, [](const ScalingRecord* a, const ScalingRecord* b) {
    return std::abs(a->mean_decided() - a->mean_wanted()) > std::abs(b->mean_decided() - b->mean_wanted());
  });
  if (shown.size() > kMostPictures) {
    report.notes.push_back("Charts of the " + std::to_string(kMostPictures) +
                           " workloads that differ most, of " + std::to_string(shown.size()) + ".");
    shown.resize(kMostPictures);
  }
  for (const ScalingRecord* record : shown) add_charts(*record, report.charts);
  return render_html_report(report);
}

}  // namespace evenkeel::apps
