#include "apps/evaluation_view.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/scaling_charts.h"
#include "apps/version.h"
#include "autoscaling/policies/registry.h"
#include "scheduling/policies/registry.h"

namespace evenkeel::apps {
namespace {

using reporting::Better;
using training::Evaluation;
using training::PolicyResult;
using training::RunResult;
using Json = nlohmann::ordered_json;

struct Shown {
  std::string_view metric, label;
  Better better;
};

// What the table shows, where it says anything: a column of noughts is left out.
constexpr Shown kShown[] = {
    {"latency_ms", "latency ms", Better::lower},
    {"gap_to_optimum", "gap", Better::lower},
    {"bandwidth_violations", "over-booked", Better::lower},
    {"applications", "applications", Better::neither},
    {"optimum_ms", "optimum ms", Better::neither},
    {"optimum_applications", "at most", Better::neither},
    {"optimum_proven", "proven", Better::neither},
    {"run_ms", "run ms", Better::lower},
    {"imbalance", "imbalance", Better::lower},
    {"imbalance_of_means", "of means", Better::lower},
    {"utilization", "utilisation", Better::neither},
    {"unserved_cpu", "unserved CPU", Better::lower},
    {"overload_share", "above 80 %", Better::lower},
    {"response_s_mean", "response s", Better::lower},
    {"response_s_p95", "p95 s", Better::lower},
    {"slowdown_p95", "slowdown p95", Better::lower},
    {"makespan_s", "makespan s", Better::lower},
    {"sigma_cpu", "sigma CPU", Better::lower},
    {"sigma_memory", "sigma mem", Better::lower},
    {"moves", "moves", Better::neither},
    {"oom_kills", "OOM kills", Better::lower},
    {"failed", "failed", Better::lower},
    {"unschedulable", "unplaced", Better::lower},
    {"decision_us_p50", "us p50", Better::lower},
    {"decision_us_p99", "us p99", Better::lower},
    {"replicas_mean", "replicas", Better::lower},
    {"sla_violation", "violations", Better::lower},
    {"cpu_utilization", "CPU", Better::neither},
    {"requests_late", "late", Better::lower},
    {"requests_unserved", "unserved", Better::lower},
    {"response_ms_p95", "p95 ms", Better::neither},
    {"scalings", "scalings", Better::lower},
    {"pending", "pending", Better::lower},
};

bool says_anything(const Evaluation& evaluation, std::string_view metric) {
  return std::any_of(evaluation.policies.begin(), evaluation.policies.end(), [&](const PolicyResult& policy) {
    return std::any_of(policy.runs.begin(), policy.runs.end(), [&](const RunResult& run) {
      const double value = run[metric];
      return !std::isnan(value) && value != 0;
    });
  });
}

Json json_value(const Evaluation& evaluation) {
  Json policies = Json::object();
  for (const PolicyResult& policy : evaluation.policies) {
    Json& entry = policies[policy.policy] = Json::object();
    if (policy.reference) entry["reference"] = true;
    if (policy.runs.empty()) continue;
    for (const training::Metric& metric : policy.runs.front().metrics) {
      const training::Spread spread = spread_of(policy, metric.name);
      Json values = Json::array();
      for (const RunResult& run : policy.runs) values.push_back(run[metric.name]);
      entry[metric.name] = {{"mean", spread.mean}, {"sd", spread.sd}, {"values", std::move(values)}};
    }
  }
  return {{"scenario", evaluation.scenario},
          {"source", evaluation.source},
          {"seeds", evaluation.seeds},
          {"policies", std::move(policies)}};
}

reporting::PolicyKind kind_of(const PolicyResult& policy) {
  if (policy.reference) return reporting::PolicyKind::reference;
  const bool scales = !policy.runs.empty() && !std::isnan(policy.runs.front()["replicas_mean"]);
  const bool learned = scales
                           ? autoscaling::is_learned_scaling(policy.policy.substr(0, policy.policy.find('+')))
                           : scheduling::is_learned(policy.policy);
  return learned ? reporting::PolicyKind::learned : reporting::PolicyKind::rule;
}

// At most this many points of a series reach a picture.
constexpr std::size_t kPicturePoints = 400;

void add_series(const Evaluation& evaluation, const RunResult& run, reporting::PolicyRun& shown) {
  const std::size_t step = std::max<std::size_t>(1, run.series.size() / kPicturePoints);
  const std::size_t nodes = std::min<std::size_t>(evaluation.node_names.size(), 12);
  for (std::size_t node = 0; node < nodes; ++node)
    shown.nodes.push_back({evaluation.node_names[node], {}, {}});
  for (std::size_t i = 0; i < run.series.size(); i += step) {
    const simulator::SeriesPoint& point = run.series[i];
    shown.imbalance.push_back({point.at_s, point.imbalance});
    for (std::size_t node = 0; node < nodes && node < point.nodes.size(); ++node) {
      shown.nodes[node].at_s.push_back(point.at_s);
      for (std::size_t d = 0; d < evenkeel::kDimensions; ++d)
        shown.nodes[node].utilization[d].push_back(static_cast<double>(point.nodes[node][d]));
    }
  }
}

}  // namespace

reporting::TableView table_of(const Evaluation& evaluation) {
  reporting::TableView table;
  for (const Shown& shown : kShown)
    if (says_anything(evaluation, shown.metric))
      table.columns.push_back({std::string(shown.metric), std::string(shown.label), shown.better});
  for (const PolicyResult& policy : evaluation.policies) {
    reporting::TableRow row{policy.policy, kind_of(policy), {}};
    for (const reporting::TableColumn& column : table.columns) {
      const training::Spread spread = spread_of(policy, column.metric);
      if (std::isnan(spread.mean)) {
        row.cells.push_back(std::nullopt);
      } else {
        row.cells.push_back(reporting::TableCell{
            spread.mean, policy.runs.size() > 1 ? std::optional(spread.sd) : std::nullopt});
      }
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string json_of(const Evaluation& evaluation) { return json_value(evaluation).dump(2); }

// JSON is YAML; users who ask for YAML want it without the braces where that is easy.
std::string yaml_of(const Evaluation& evaluation) {
  std::string out = "scenario: " + Json(evaluation.scenario).dump() +
                    "\nsource: " + Json(evaluation.source).dump() +
                    "\nseeds: " + Json(evaluation.seeds).dump() + "\npolicies:\n";
  const Json value = json_value(evaluation);
  for (const auto& [policy, metrics] : value["policies"].items()) {
    out += "  " + Json(policy).dump() + ":\n";
    for (const auto& [name, figures] : metrics.items()) out += "    " + name + ": " + figures.dump() + "\n";
  }
  return out;
}

reporting::ReportData report_of(const Evaluation& evaluation, const std::string& command) {
  reporting::ReportData report;
  report.title = "Evaluation of " + evaluation.scenario;
  report.scenario = evaluation.scenario;
  report.source = evaluation.source;
  report.command = command;
  report.version = kVersion;
  report.seeds = evaluation.seeds;
  report.table = table_of(evaluation);
  report.charts = scaling_charts(evaluation);
  for (const PolicyResult& policy : evaluation.policies) {
    reporting::PolicyRun& shown = report.runs.emplace_back();
    shown.policy = policy.policy;
    shown.kind = kind_of(policy);
    if (!policy.runs.empty()) add_series(evaluation, policy.runs.front(), shown);
    for (const RunResult& run : policy.runs)
      for (const simulator::PodOutcome& pod : run.outcomes)
        shown.response_s.push_back(pod.finished_s - pod.arrived_s);
  }
  return report;
}

}  // namespace evenkeel::apps
