// What agents cost and how soon they bind: processes on a real API server, and hundreds of them in one
// process.
#include <filesystem>
#include <ostream>

#include "apps/bench.h"
#include "apps/bench_agents_desk.h"
#include "apps/bench_script.h"
#include "reporting/number_format.h"
#include "reporting/text_table.h"

namespace evenkeel::apps {
namespace {

namespace fs = std::filesystem;
using reporting::Align;
using reporting::format_number;
using reporting::TextTable;

double number(const BenchJson& figures, const char* key) {
  return figures.contains(key) && figures[key].is_number() ? figures[key].get<double>() : 0;
}

std::string shown(const BenchJson& figures, const char* key) {
  return figures.contains(key) && figures[key].is_number() ? format_number(figures[key].get<double>()) : "";
}

void print(const TextTable& table, std::ostream& out) {
  out << reporting::render_text_table(table, reporting::TextStyle::plain) << std::endl;
}

// Whom a row is about: the single scheduler, or so many agents that hear of pods in this way.
std::string title(const BenchJson& row) {
  if (row.value("who", "") != "agents") return "evenkeel scheduler";
  return format_number(number(row, "agents")) + " agents, " +
         (row.value("way", "") == "relay" ? "told by the leader" : "a watch each");
}

void print_rows(const BenchJson& results, std::ostream& out) {
  TextTable table{{{"", Align::left},
                   {"p50 ms"},
                   {"p99 ms"},
                   {"API server % of a core"},
                   {"… idle"},
                   {"ours, CPU ms a pod"},
                   {"bytes a pod and follower"},
                   {"beats B/s"},
                   {"decided by bids"}},
                  {},
                  {}};
  for (const BenchJson& row : results["rows"]) {
    std::string by_bids;
    if (row.contains("rounds")) {
      const BenchJson& rounds = row["rounds"];
      const double bids = number(rounds, "all") + number(rounds, "quorum") + number(rounds, "deadline");
      const double sum = bids + number(rounds, "nobody");
      if (sum > 0) by_bids = format_number(100 * bids / sum) + " %";
    }
    table.rows.push_back({{title(row)},
                          {shown(row, "seen_to_bound_p50_ms")},
                          {shown(row, "seen_to_bound_p99_ms")},
                          {shown(row, "server_cpu_percent")},
                          {shown(row, "server_idle_cpu_percent")},
                          {shown(row, "cpu_ms_per_pod")},
                          {shown(row, "bytes_per_pod")},
                          {shown(row, "beat_bytes_per_s")},
                          {by_bids}});
  }
  table.notes.push_back(format_number(number(results, "rate")) + " pods a second on " +
                        format_number(number(results, "nodes")) +
                        " kwok nodes; from a client's watch telling of a pod to its telling of the binding. "
                        "Bytes: both ways, heartbeats and encryption aside.");
  print(table, out);
}

void print_roles(const BenchJson& results, std::ostream& out) {
  TextTable table{{{"", Align::left},
                   {"role", Align::left},
                   {"MB resident"},
                   {"… its own"},
                   {"… at most"},
                   {"% of a core"},
                   {"… idle"}},
                  {},
                  {}};
  for (const BenchJson& row : results["rows"]) {
    if (!row.contains("roles")) {
      table.rows.push_back({{title(row)},
                            {},
                            {shown(row, "rss_mb")},
                            {shown(row, "own_mb")},
                            {shown(row, "peak_mb")},
                            {shown(row, "cpu_percent")},
                            {}});
      continue;
    }
    for (const auto& [role, figures] : row["roles"].items())
      table.rows.push_back({{title(row)},
                            {role},
                            {shown(figures, "rss_mb")},
                            {shown(figures, "own_mb")},
                            {shown(figures, "peak_mb")},
                            {shown(figures, "cpu_percent")},
                            {shown(figures, "idle_cpu_percent")}});
  }
  print(table, out);
}

// The row that bars are read off: the largest fleet for its costs, the one that was killed for its times.
const BenchJson* row_of(const BenchJson& results, double agents) {
  const BenchJson* found = nullptr;
  for (const BenchJson& row : results["rows"])
    if (number(row, "agents") == agents &&
        (!found || number(row, "seen_to_bound_p99_ms") < number(*found, "seen_to_bound_p99_ms")))
      found = &row;
  return found;
}

double largest(const BenchJson& results) {
  double agents = 0;
  for (const BenchJson& row : results["rows"]) agents = std::max(agents, number(row, "agents"));
  return agents;
}

BenchJson print_bars(const BenchJson& results, std::ostream& out) {
  struct Bar {
    std::string what;
    double reached, wanted;
    bool at_least = false;
  };
  std::vector<Bar> bars;
  const double agents = number(results, "agents"), most = largest(results);
  const std::string with = " with " + format_number(agents) + " agents";
  if (const BenchJson* row = row_of(results, agents)) {
    bars.push_back({"seen to bound, p50 ms" + with, number(*row, "seen_to_bound_p50_ms"), 20});
    bars.push_back({"seen to bound, p99 ms" + with, number(*row, "seen_to_bound_p99_ms"), 100});
  }
  if (const BenchJson* row = row_of(results, most); row && row->contains("roles")) {
    const std::string of = " of a member, " + format_number(most) + " agents";
    const BenchJson& member =
        (*row)["roles"].contains("member") ? (*row)["roles"]["member"] : (*row)["roles"]["leader"];
    bars.push_back({"MB" + of, number(member, "rss_mb"), 20});
    bars.push_back({"% of a core" + of, number(member, "cpu_percent"), 1});
    bars.push_back({"bytes a pod and follower", number(*row, "bytes_per_pod"), 95});
  }
  const BenchJson& kills = results["kills"];
  bars.push_back({"next binding after a kill, worst, s", number(kills, "failover_s_worst"), 2});
  bars.push_back({"pods lost", number(kills, "lost"), 0});
  bars.push_back({"pods bound twice", number(kills, "bound_twice"), 0});
  const double single = number(results["burst"]["scheduler"], "pods_per_s");
  if (single > 0)
    bars.push_back({"pods/s of the single scheduler's" + with,
                    number(results["burst"]["agents"], "pods_per_s") / single, 1, true});
  bars.push_back({"decision of one agent, p99 ms", number(results["desk"], "decision_p99_us") / 1000, 0.2});
  TextTable table{{{"agents", Align::left}, {"to reach"}, {"reached"}, {""}}, {}, {}};
  BenchJson json = BenchJson::object();
  for (const Bar& bar : bars) {
    const bool is_reached = bar.at_least ? bar.reached >= bar.wanted : bar.reached <= bar.wanted;
    table.rows.push_back({{bar.what},
                          {(bar.at_least ? ">= " : "<= ") + format_number(bar.wanted)},
                          {format_number(bar.reached)},
                          {is_reached ? "yes" : "no"}});
    json[bar.what] = {{"wanted", bar.wanted}, {"value", bar.reached}, {"reached", is_reached}};
  }
  print(table, out);
  return json;
}

}  // namespace

Result<BenchJson> bench_agents(const BenchSettings& settings, std::ostream& out) {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (failed) return unavailable("/proc/self/exe: " + failed.message());
  auto desk = bench_agents_desk(settings, out);
  if (!desk) return desk.error();
  const Result<fs::path> script = find_bench_script(program, "agents/cost");
  if (!script) return script.error();
  const Result<std::string> text = output_of_bench(
      "python3 -B " + shell_quoted(*script) + " " + shell_quoted(program) + " " +
      shell_quoted(program.parent_path() / "bare_client") + (settings.quick ? " --quick" : ""));
  if (!text) return text.error();
  BenchJson results = BenchJson::parse(*text, nullptr, false);
  if (results.is_discarded() || !results.contains("rows")) return unavailable("the result cannot be read");
  results["desk"] = *std::move(desk);
  print_rows(results, out);
  print_roles(results, out);
  const BenchJson& kills = results["kills"];
  out << format_number(number(kills, "kills")) << " kills of the leader among "
      << format_number(number(kills, "agents")) << " agents: next binding after "
      << shown(kills, "failover_s_p50") << " s (p50), " << shown(kills, "failover_s_worst") << " s (worst); "
      << shown(kills, "pods") << " pods, " << shown(kills, "lost") << " lost, " << shown(kills, "bound_twice")
      << " bound twice.\n\n";
  TextTable burst{{{"burst", Align::left},
                   {"pods/s"},
                   {"CPU ms a pod"},
                   {"… who decides"},
                   {"… deputies"},
                   {"… members"},
                   {"API server, CPU ms a pod"},
                   {"created within s"}},
                  {},
                  {}};
  for (const auto& [who, lap] : results["burst"].items())
    burst.rows.push_back({{who},
                          {shown(lap, "pods_per_s")},
                          {shown(lap, "cpu_ms_per_pod")},
                          {shown(lap, "leader_cpu_ms_per_pod")},
                          {shown(lap, "deputies_cpu_ms_per_pod")},
                          {shown(lap, "members_cpu_ms_per_pod")},
                          {shown(lap, "server_cpu_ms_per_pod")},
                          {shown(lap, "created_s")}});
  burst.notes.push_back(
      shown(results["burst"]["agents"], "pods") +
      " pods as fast as a bare client makes them; from the first seen to the last bound. API "
      "server, etcd, client and all agents share this machine; deputies and members have "
      "nodes of their own elsewhere.");
  print(burst, out);
  BenchJson bars = print_bars(results, out);
  // What users of the JSON ask for by name. Gathered apart: a new key moves the others, and `kills` and `row`
  // with them.
  BenchJson named;
  if (const BenchJson* row = row_of(results, number(results, "agents"))) {
    named["seen_to_bound_p50_ms"] = number(*row, "seen_to_bound_p50_ms");
    named["seen_to_bound_p99_ms"] = number(*row, "seen_to_bound_p99_ms");
  }
  if (const BenchJson* row = row_of(results, largest(results)); row && row->contains("roles")) {
    const BenchJson& member =
        (*row)["roles"].contains("member") ? (*row)["roles"]["member"] : (*row)["roles"]["leader"];
    named["rss_mb"] = number(member, "rss_mb");
    named["cpu_percent"] = number(member, "cpu_percent");
    named["bytes_per_pod"] = number(*row, "bytes_per_pod");
  }
  for (const char* key : {"failover_s_worst", "lost", "bound_twice"}) named[key] = number(kills, key);
  results.update(named);
  results["bars"] = std::move(bars);
  return results;
}

}  // namespace evenkeel::apps
