// `evenkeel bench together`: scaling that asks about nodes, beside scaling and placement each on its own.
#include <algorithm>
#include <cmath>
#include <ostream>
#include <thread>

#include "apps/bench.h"
#include "reporting/number_format.h"
#include "reporting/text_table.h"
#include "training/scaling_together.h"

namespace evenkeel::apps {
namespace {

using training::Evaluation;
using training::PolicyResult;

struct Figure {
  const char* name;
  const char* header;
  double scale = 1;
};
constexpr Figure kFigures[] = {
    {"pending_pod_s", "pending pod-s/h"},   {"pending_longest_s", "longest wait s"},
    {"node_imbalance", "node imbalance %"}, {"sla_violation", "violations %", 100},
    {"replicas_mean", "replicas"},          {"scalings", "scalings/h"}};

struct Interval {
  double mean = 0, half = 0;  // half of the 95 % interval
};

// Of the mean, by Student's t for so many worlds.
Interval interval_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / n;
  for (const double value : values) squares += (value - mean) * (value - mean);
  if (values.size() < 2) return {mean, 0};
  // Within a percent of the tables from three degrees of freedom on (Cornish and Fisher's first terms).
  const double z = 1.959964, f = n - 1;
  const double t =
      z + (z * z * z + z) / (4 * f) + (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * f * f);
  return {mean, t * std::sqrt(squares / f / n)};
}

// Of the figure itself, or of how much it differs from another row's in the same worlds.
Interval interval_of(const PolicyResult& row, const PolicyResult* base, const Figure& figure) {
  std::vector<double> values;
  for (std::size_t i = 0; i < row.runs.size(); ++i)
    values.push_back(figure.scale * (row.runs[i][figure.name] - (base ? base->runs[i][figure.name] : 0)));
  return interval_of(values);
}

std::string text_of(const Interval& interval, bool with_sign) {
  const auto rounded = [](double value) { return reporting::format_number(std::round(100 * value) / 100); };
  return (with_sign && interval.mean >= 0 ? "+" : "") + rounded(interval.mean) + " ± " +
         rounded(interval.half);
}

void show(const Evaluation& evaluation, std::size_t variants, bool differences, std::ostream& out) {
  reporting::TextTable table{
      {{differences ? "against apart" : "policy, scaling", reporting::Align::left}}, {}, {}};
  for (const Figure& figure : kFigures) table.columns.push_back({figure.header});
  for (std::size_t i = 0; i < evaluation.policies.size(); ++i) {
    const PolicyResult& row = evaluation.policies[i];
    const PolicyResult* base = differences ? &evaluation.policies[i - i % variants] : nullptr;
    if (base == &row) continue;
    std::vector<reporting::TextCell> cells{{row.policy}};
    for (const Figure& figure : kFigures)
      cells.push_back({text_of(interval_of(row, base, figure), differences)});
    table.rows.push_back(std::move(cells));
  }
  out << reporting::render_text_table(table, reporting::TextStyle::plain) << '\n';
}

}  // namespace

Result<BenchJson> bench_together(const BenchSettings& settings, std::ostream& out) {
  training::TogetherOptions options;
  if (!settings.policies.empty()) options.policies = settings.policies;
  if (settings.quick) options.world.length = std::chrono::hours{1};
  const std::uint64_t seeds = settings.quick ? 3 : 24;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) options.seeds.push_back(seed);
  options.threads = std::max(1U, std::thread::hardware_concurrency());
  const Result<Evaluation> evaluated = training::evaluate_together(options);
  if (!evaluated) return evaluated.error();
  const Evaluation& evaluation = *evaluated;
  const std::size_t variants = training::together_variants().size();
  out << evaluation.source << ", " << seeds << " worlds, means with 95 % intervals\n\n";
  show(evaluation, variants, false, out);
  out << "differences in the same worlds:\n\n";
  show(evaluation, variants, true, out);
  BenchJson json = BenchJson::array();
  for (std::size_t i = 0; i < evaluation.policies.size(); ++i) {
    const PolicyResult& row = evaluation.policies[i];
    BenchJson entry = {{"policy", row.policy}, {"seeds", seeds}};
    for (const Figure& figure : kFigures) {
      const Interval own = interval_of(row, nullptr, figure);
      const Interval against = interval_of(row, &evaluation.policies[i - i % variants], figure);
      entry[figure.name] = {{"mean", own.mean},
                            {"interval", own.half},
                            {"against_apart", against.mean},
                            {"against_apart_interval", against.half}};
    }
    json.push_back(std::move(entry));
  }
  return json;
}

}  // namespace evenkeel::apps
