// What scaling a thousand workloads costs, on a real API server with a real Prometheus.
#include <ostream>

#include "apps/bench.h"
#include "apps/bench_script.h"
#include "reporting/number_format.h"
#include "reporting/text_table.h"

namespace evenkeel::apps {

Result<BenchJson> bench_autoscaler(const BenchSettings& settings, std::ostream& out) {
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return unavailable("/proc/self/exe: " + failed.message());
  const auto script = find_bench_script(program, "scaling_cost");
  if (!script) return script.error();
  const Result<std::string> text = output_of_bench(
      "python3 " + shell_quoted(*script) + " " + shell_quoted(program) + (settings.quick ? " --quick" : ""));
  if (!text) return text.error();
  BenchJson results = BenchJson::parse(*text, nullptr, false);
  if (results.is_discarded() || !results.contains("cpu_percent"))
    return unavailable("the result cannot be read");
  const double cpu = results["cpu_percent"], rss = results["rss_mb"];
  reporting::TextTable table{
      {{"one autoscaler", reporting::Align::left}, {"to reach"}, {"reached"}, {""}}, {}, {}};
  table.rows.push_back(
      {{"% of a core"}, {"<= 5"}, {reporting::format_number(cpu)}, {cpu <= 5 ? "yes" : "no"}});
  table.rows.push_back(
      {{"MB resident"}, {"<= 64"}, {reporting::format_number(rss)}, {rss <= 64 ? "yes" : "no"}});
  table.notes.push_back(
      std::to_string(results.value("workloads", 0)) +
      " workloads of three pods every 15 s on a real API server and a real Prometheus; policy " +
      results.value("policy", std::string()) + "; " +
      reporting::format_number(results.value("decisions", 0.0)) + " decisions in " +
      reporting::format_duration(results.value("seconds", 0.0)) + ".");
  out << reporting::render_text_table(table, reporting::TextStyle::plain);
  return results;
}

}  // namespace evenkeel::apps
