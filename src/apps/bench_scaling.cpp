// `evenkeel bench scaling`: policies beside HPA, its settings' own front and a clairvoyant, over weeks.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <ostream>
#include <thread>

#include "apps/bench.h"
#include "apps/scaling_charts.h"
#include "apps/scaling_models.h"
#include "apps/scenarios.h"
#include "apps/version.h"
#include "autoscaling/policies/registry.h"
#include "base/file.h"
#include "base/spelling.h"
#include "reporting/html_report.h"
#include "reporting/number_format.h"

namespace evenkeel::apps {
namespace {

using reporting::Align;
using reporting::format_number;
using training::Evaluation;
using training::PolicyResult;
using training::RunResult;

struct Window {
  std::string name, from, to;
};
// A trace and the weeks it is cut into; each is brought to the same peak.
struct TraceSet {
  std::string_view name, scenario, file;
  std::vector<Window> windows;
};

std::vector<Window> weeks(std::string_view month,
                          std::initializer_list<std::pair<int, std::string>> mondays) {
  std::vector<Window> windows;
  for (const auto& [day, next] : mondays) {
    const std::string from = std::string(month) + (day < 10 ? "0" : "") + std::to_string(day);
    windows.push_back({from, from, next});
  }
  return windows;
}

std::vector<TraceSet> trace_sets() {
  std::vector<Window> cup =
      weeks("1998-05-", {{4, "1998-05-11"}, {11, "1998-05-18"}, {18, "1998-05-25"}, {25, "1998-06-01"}});
  for (Window& window : weeks("1998-06-", {{1, "1998-06-08"}, {8, "1998-06-15"}, {15, "1998-06-22"}}))
    cup.push_back(std::move(window));
  return {{"wc98", "scaling-wc98", "wc98_per_minute.csv.zst", std::move(cup)},
          {"nasa", "scaling-nasa", "nasa95_per_minute.csv.zst",
           weeks("1995-07-", {{3, "1995-07-10"}, {10, "1995-07-17"}, {17, "1995-07-24"}})},
          {"llm",
           "scaling-llm",
           "azure_llm_2023_conv.csv.zst",
           {{"first-half", "0", "1750000"}, {"second-half", "1750000", ""}}}};
}

constexpr std::array kFront = {
    "hpa",           "hpa+target=50", "hpa+target=60",          "hpa+target=80",
    "hpa+target=90", "hpa+down=60s",  "hpa+target=85+down=60s", "hpa+target=60+down=60s"};
constexpr std::array kClairvoyant = {"clairvoyant", "clairvoyant+level=0.003", "clairvoyant+level=0.01",
                                     "clairvoyant+level=0.03"};

std::vector<std::string> policies_of(const BenchSettings& settings) {
  std::vector<std::string> policies(kFront.begin(), kFront.end());
  if (settings.quick) policies = {"hpa", "hpa+target=85+down=60s"};
  if (!settings.policies.empty()) {
    policies.insert(policies.end(), settings.policies.begin(), settings.policies.end());
  } else {
    for (const std::string_view name : autoscaling::scaling_policy_names())
      if (name != "hpa") policies.emplace_back(name);
  }
  policies.insert(policies.end(), kClairvoyant.begin(),
                  settings.quick ? kClairvoyant.begin() + 1 : kClairvoyant.end());
  return policies;
}

// Every window's run becomes one of the policies' runs.
Status add_window(const TraceSet& set, const Window& window, const BenchSettings& settings,
                  const training::ScalingModels& models, Evaluation& all) {
  std::vector<std::string> overrides;
  if (settings.data.empty()) {
    overrides = {"workload.made.length=" + std::string(set.name == "llm" ? "1h"
                                                       : settings.quick  ? "1d"
                                                                         : "7d")};
  } else {
    overrides = {"workload.trace=" + settings.data + "/workload/" + std::string(set.file),
                 "workload.from=" + window.from};
    if (!window.to.empty()) overrides.push_back("workload.to=" + window.to);
  }
  const Result<training::ScalingExperiment> experiment =
      load_scaling_scenario(std::string(set.scenario), overrides);
  if (!experiment) return experiment.error();
  training::ScalingEvaluationOptions options;
  options.policies = policies_of(settings);
  options.models = models;
  options.seeds = {1 + all.seeds.size()};
  options.threads = std::max(1U, std::thread::hardware_concurrency());
  Result<Evaluation> e = training::evaluate_scaling(*experiment, options);
  if (!e) return e.error();
  all.scenario = set.name;
  all.source = e->source;
  all.seeds.push_back(options.seeds.front());
  if (all.policies.empty()) {
    all.policies = std::move(e->policies);
    return {};
  }
  for (std::size_t i = 0; i < all.policies.size(); ++i)
    all.policies[i].runs.push_back(std::move(e->policies[i].runs.front()));
  return {};
}

std::string percent(double share) { return format_number(std::round(1e4 * share) / 100) + " %"; }

void show(const Evaluation& e, const std::string& caption, reporting::ReportData& report, std::ostream& out,
          BenchJson& json) {
  reporting::TextTable table{{{"policy", Align::left},
                              {"replicas"},
                              {"against HPA"},
                              {"violations"},
                              {"late"},
                              {"CPU"},
                              {"scalings"}},
                             {},
                             {}};
  const double hpa = spread_of(e.policies.front(), "replicas_mean").mean;
  for (const PolicyResult& policy : e.policies) {
    const auto mean = [&](const char* metric) { return spread_of(policy, metric).mean; };
    table.rows.push_back({{policy.policy + (policy.reference ? " (reference)" : "")},
                          {format_number(mean("replicas_mean"))},
                          {percent(mean("replicas_mean") / hpa - 1)},
                          {percent(mean("sla_violation"))},
                          {percent(mean("requests_late"))},
                          {percent(mean("cpu_utilization"))},
                          {format_number(mean("scalings"))}});
    BenchJson& entry = json[e.scenario][policy.policy];
    if (policy.reference) entry["reference"] = true;
    for (const char* metric :
         {"replicas_mean", "sla_violation", "requests_late", "cpu_utilization", "scalings"}) {
      BenchJson values = BenchJson::array();
      for (const RunResult& run : policy.runs) values.push_back(run[metric]);
      entry[metric] = {{"mean", mean(metric)}, {"values", std::move(values)}};
    }
  }
  out << caption << "\n\n" << render_text_table(table, reporting::TextStyle::plain) << std::endl;
  report.tables.push_back({caption, std::move(table)});
  report.charts.push_back(front_chart(caption, e.policies));
}

bool listed(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Status check_scaling_windows(const std::vector<std::string>& names) {
  std::vector<std::string> windows;
  for (const TraceSet& set : trace_sets())
    for (const Window& window : set.windows) windows.push_back(window.name);
  const std::vector<std::string_view> known(windows.begin(), windows.end());
  for (const std::string& name : names)
    if (!listed(windows, name))
      return invalid("no window is called '" + name + "'; there are " + joined(known) +
                     did_you_mean(name, known));
  return {};
}

Result<BenchJson> bench_scaling(const BenchSettings& settings, std::ostream& out) {
  const Result<training::ScalingModels> models = load_scaling_models({});
  if (!models) return models.error();
  reporting::ReportData report;
  report.title = "Scaling: replicas and violations beside HPA's own front and a clairvoyant";
  report.command = "evenkeel bench scaling";
  report.version = kVersion;
  BenchJson json = BenchJson::object();
  for (const TraceSet& set : trace_sets()) {
    if (!settings.data.empty() &&
        !std::filesystem::exists(settings.data + "/workload/" + std::string(set.file))) {
      out << set.name << ": skipped: no data (" << set.file << ")\n\n";
      continue;
    }
    // Weeks a policy was tuned on are no proof of anything: they are shown by themselves.
    for (const bool tuned : {false, true}) {
      Evaluation all;
      std::string names;
      for (const Window& window : set.windows) {
        if (listed(settings.tuned_on, window.name) != tuned) continue;
        if (settings.quick && !all.seeds.empty()) break;
        if (const Status added = add_window(set, window, settings, *models, all); !added)
          return added.error();
        names += (names.empty() ? "" : ", ") + window.name;
      }
      if (all.seeds.empty()) continue;
      if (tuned) all.scenario += "-tuned-on";
      const std::string caption =
          std::string(set.name) + (tuned ? ", tuned on: " : ", held out: ") +
          (settings.data.empty() ? std::to_string(all.seeds.size()) + " generated weeks" : names);
      show(all, caption, report, out, json);
    }
  }
  if (settings.data.empty()) out << "real traces: skipped: no data (--data FOLDER)\n";
  if (!settings.report.empty())
    if (const Status written = write_file(settings.report, render_html_report(report)); !written)
      return written.error();
  return json;
}

}  // namespace evenkeel::apps
