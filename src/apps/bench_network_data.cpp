#include "apps/bench_network_data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <ostream>
#include <thread>

#include "apps/network_runs.h"
#include "base/csv_reader.h"
#include "reporting/number_format.h"
#include "reporting/text_table.h"
#include "simulator/application.h"

namespace evenkeel::apps {
namespace {

namespace fs = std::filesystem;

// Tables of latencies that belong together: of regions, of the zones within them, or both.
struct Latencies {
  std::string regions, zones;
};

// By what their names begin with: "ibm" of ibm_inter_zone.csv.
Result<std::map<std::string, Latencies>> find_latencies(const fs::path& folder) {
  std::map<std::string, Latencies> found;
  std::error_code problem;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem)) {
    const std::string name = entry.path().filename().string();
    if (name.find(".csv") == std::string::npos) continue;
    Result<CsvReader> csv = CsvReader::open(entry.path().string());
    if (!csv) return csv.error();
    if (!csv->optional_column("rtt_avg_ms")) continue;
    Latencies& of = found[name.substr(0, name.find_first_of("_."))];
    (csv->optional_column("src_zone") ? of.zones : of.regions) = entry.path().string();
  }
  return found;
}

std::string percent(double share) {
  return std::isnan(share) ? "–" : reporting::format_number(std::round(1e3 * share) / 10) + " %";
}

}  // namespace

Result<BenchJson> bench_network_data(const BenchSettings& settings, std::ostream& out) {
  const fs::path edges = fs::path(settings.data) / "apps" / "edges.csv",
                 services = fs::path(settings.data) / "apps" / "services.csv",
                 folder = fs::path(settings.data) / "latency";
  if (settings.data.empty() || !fs::exists(edges) || !fs::exists(folder)) {
    out << "real applications on real latencies: skipped: no data (--data FOLDER with apps/ and latency/)\n";
    return BenchJson::object();
  }
  const bool has_services = fs::exists(services);
  const Result<std::vector<simulator::Application>> apps =
      simulator::read_application_files({edges.string(), has_services ? services.string() : "", {}});
  if (!apps) return apps.error();
  const Result<std::map<std::string, Latencies>> latencies = find_latencies(folder);
  if (!latencies) return latencies.error();

  const std::vector<std::string> policies =
      known_policies({"kube-default", "binpack", "task-topology", "diktyo", "network"});
  reporting::TextTable table{
      {{"application", reporting::Align::left}, {"latencies", reporting::Align::left}, {"best known ms"}},
      {},
      {}};
  for (const std::string& policy : policies) table.columns.push_back({policy});
  BenchJson json = BenchJson::object();
  for (const simulator::Application& app : *apps)
    for (const auto& [name, files] : *latencies) {
      NetworkRun run{"diktyo-cluster", {}, policies};
      run.sets = {"workload.edges=" + edges.string(),
                  "workload.app=" + app.name,
                  "workload.replicas=2",
                  "nodes.list.0.capacity.cpu=1",
                  "nodes.per_place=2",
                  "network.places=10",
                  "network.unit=0.1ms"};
      if (has_services) run.sets.push_back("workload.services=" + services.string());
      if (!files.regions.empty()) run.sets.push_back("network.regions.trace=" + files.regions);
      if (!files.zones.empty()) run.sets.push_back("network.zones.trace=" + files.zones);
      run.seeds = settings.quick ? 1 : 10;
      run.threads = std::max(1U, std::thread::hardware_concurrency());
      const Result<training::Evaluation> e = run_network(run);
      if (!e) return e.error();
      std::vector<reporting::TextCell> row{
          {app.name},
          {name},
          {reporting::format_number(training::spread_of(e->policies.front(), "optimum_ms").mean)}};
      for (const training::PolicyResult& policy : e->policies) {
        const double gap = training::spread_of(policy, "gap_to_optimum").mean;
        double worst = 0;
        for (const training::RunResult& one : policy.runs) worst = std::max(worst, one["gap_to_optimum"]);
        row.push_back({percent(gap)});
        json[app.name][name][policy.policy] = {{"latency_ms", training::spread_of(policy, "latency_ms").mean},
                                               {"gap_mean", gap},
                                               {"gap_worst", worst},
                                               {"placed", training::spread_of(policy, "placed").mean}};
      }
      table.rows.push_back(std::move(row));
    }
  out << "Real applications (two replicas of each service) on ten places of real latencies with two nodes of "
         "one CPU\n"
         "each, places and order of arrival by seed: mean distance to the best known\n"
      << reporting::render_text_table(table, reporting::TextStyle::plain) << '\n';
  return json;
}

}  // namespace evenkeel::apps
