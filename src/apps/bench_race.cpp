// How fast pods are bound: ours, kube-scheduler, and what the API server allows, on one API server in one
// run.
#include <cmath>
#include <filesystem>
#include <ostream>

#include "apps/bench.h"
#include "apps/bench_script.h"
#include "reporting/number_format.h"
#include "reporting/text_table.h"

namespace evenkeel::apps {
namespace {

namespace fs = std::filesystem;
using reporting::TextCell;

double number(const BenchJson& results, const char* who, const char* what) {
  const auto found = results.find(who);
  return found == results.end() ? 0 : found->value(what, 0.0);
}

std::string rounded(double value) {
  return reporting::format_number(value >= 100 ? std::round(value) : value);
}

struct Column {
  const char *name, *key;
};
constexpr Column kColumns[] = {
    {"pods/s", "pods_per_s"},     {"CPU ms a pod", "cpu_ms_per_pod"},       {"peak MB", "peak_mb"},
    {"first write s", "start_s"}, {"algorithm p50 ms", "algorithm_p50_ms"}, {"p99 ms", "algorithm_p99_ms"}};

void print_laps(const BenchJson& laps, const std::string& nodes, std::ostream& out) {
  reporting::TextTable table{{{nodes + " nodes", reporting::Align::left}}, {}, {}};
  for (const Column& column : kColumns) table.columns.push_back({column.name});
  for (const auto& [who, lap] : laps.items()) {
    std::vector<TextCell> row = {{who}};
    for (const Column& column : kColumns)
      row.push_back({lap.contains(column.key) ? rounded(lap[column.key].get<double>()) : ""});
    table.rows.push_back(std::move(row));
  }
  out << reporting::render_text_table(table, reporting::TextStyle::plain) << std::endl;
}

// What ours is to reach, beside what it reached in the same run.
BenchJson print_bars(const BenchJson& laps, std::ostream& out) {
  struct Bar {
    const char* what;
    double reached, wanted;
    bool at_least;
  };
  const auto rate = [&](const char* who) { return number(laps, who, "pods_per_s"); };
  const auto ratio = [&](const char* who, const char* other) {
    return rate(other) > 0 ? rate(who) / rate(other) : 0;
  };
  const Bar bars[] = {{"pods/s of the bare client's", ratio("ours", "bare_client"), 0.9, true},
                      {"pods/s of kube-scheduler's", ratio("ours", "kube_scheduler"), 1.6, true},
                      {"… without Events", ratio("ours_without_events", "kube_scheduler"), 2.5, true},
                      {"CPU ms a pod", number(laps, "ours", "cpu_ms_per_pod"), 0.3, false},
                      {"peak MB", number(laps, "ours", "peak_mb"), 60, false},
                      {"algorithm p50 ms", number(laps, "ours", "algorithm_p50_ms"), 0.1, false},
                      {"algorithm p99 ms", number(laps, "ours", "algorithm_p99_ms"), 1, false}};
  reporting::TextTable table{{{"ours", reporting::Align::left}, {"to reach"}, {"reached"}, {""}}, {}, {}};
  BenchJson json = BenchJson::object();
  for (const Bar& bar : bars) {
    if (bar.reached == 0) continue;  // nobody to compare with took part
    const bool is_reached = bar.at_least ? bar.reached >= bar.wanted : bar.reached <= bar.wanted;
    table.rows.push_back({{bar.what},
                          {(bar.at_least ? ">= " : "<= ") + rounded(bar.wanted)},
                          {rounded(bar.reached)},
                          {is_reached ? "yes" : "no"}});
    json[bar.what] = {{"wanted", bar.wanted}, {"value", bar.reached}, {"reached", is_reached}};
  }
  out << reporting::render_text_table(table, reporting::TextStyle::plain) << std::endl;
  return json;
}

}  // namespace

Result<BenchJson> bench_race(const BenchSettings& settings, std::ostream& out) {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (failed) return unavailable("/proc/self/exe: " + failed.message());
  const Result<fs::path> script = find_bench_script(program, "race");
  if (!script) return script.error();
  std::string command = "python3 " + shell_quoted(*script) + " " + shell_quoted(program) + " " +
                        shell_quoted(program.parent_path() / "bare_client");
  if (settings.quick) command += " --quick";
  if (settings.rounds > 0) command += " --rounds " + std::to_string(settings.rounds);
  const Result<std::string> text = output_of_bench(command);
  if (!text) return text.error();
  BenchJson results = BenchJson::parse(*text, nullptr, false);
  if (results.is_discarded() || !results.contains("nodes"))
    return unavailable("the race's result cannot be read");
  for (auto& [nodes, laps] : results["nodes"].items()) {
    print_laps(laps, nodes, out);
    BenchJson bars = print_bars(laps, out);
    laps["bare_client_pods_per_s"] = number(laps, "bare_client", "pods_per_s");
    laps["bars"] = std::move(bars);
  }
  out << "From the first write to the last, Events included; medians of " << results.value("rounds", 0)
      << " round(s), contestants by turns; " << results.value("pods", 0)
      << " pods of 100m and 128Mi; the API server has to share the machine.\n";
  return results;
}

}  // namespace evenkeel::apps
