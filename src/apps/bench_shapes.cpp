// How fast, by shape: scheduler_perf's workloads at 5,000 nodes, decisions alone, on one core.
#include "apps/bench_shapes.h"

#include <malloc.h>

#include <algorithm>

#include "apps/bench.h"
#include "reporting/number_format.h"
#include "reporting/text_table.h"

namespace evenkeel::apps {
namespace {

constexpr std::size_t kNodes = 5000;

double mib_in_use() { return static_cast<double>(mallinfo2().uordblks + mallinfo2().hblkhd) / (1 << 20); }

struct Figures {
  double per_s = 0, p50_us = 0, p99_us = 0, state_mb = 0;
};

Figures measure(const PerfShape& shape, std::size_t pods) {
  const double before = mib_in_use();
  ShapedCluster cluster(kNodes);
  shape.prepare(cluster);
  cluster.settle();
  const double state = mib_in_use() - before;
  cluster.forget_times();
  const double from = core_seconds();
  for (std::size_t i = 0; i < pods; ++i) shape.turn(cluster, i);
  const double took = core_seconds() - from;
  std::vector<double> each = cluster.decision_us();
  std::sort(each.begin(), each.end());
  Figures figures{static_cast<double>(pods) / took, 0, 0, state};
  if (!each.empty()) {
    figures.p50_us = each[each.size() / 2];
    figures.p99_us = each[each.size() * 99 / 100];
  }
  return figures;
}

std::string figure(double value) { return reporting::format_number(value); }

}  // namespace

Result<BenchJson> bench_shapes(const BenchSettings& settings, std::ostream& out) {
  reporting::TextTable table{{{"shape", reporting::Align::left},
                              {"per second"},
                              {"10 x floor"},
                              {"p50 us"},
                              {"p99 us"},
                              {"state MiB"},
                              {"", reporting::Align::left}},
                             {},
                             {}};
  BenchJson results;
  for (const PerfShape& shape : perf_shapes()) {
    const Figures figures = measure(shape, settings.quick ? shape.pods / 20 : shape.pods);
    table.rows.push_back({{shape.name},
                          {figure(figures.per_s)},
                          {shape.floor > 0 ? figure(shape.floor * 10) : ""},
                          {figure(figures.p50_us)},
                          {figure(figures.p99_us)},
                          {figure(figures.state_mb)},
                          {shape.about}});
    BenchJson& result = results[shape.name];
    result = {{"per_s", figures.per_s},
              {"p50_us", figures.p50_us},
              {"p99_us", figures.p99_us},
              {"state_mib", figures.state_mb}};
    if (shape.floor > 0) result["floor_per_s"] = shape.floor;
  }
  table.notes.push_back(
      "5,000 nodes, the default profile with all its plugins, all nodes filtered and scored. Core time, "
      "which a "
      "busy machine does not lengthen. Per second: turns of the shape, hearing of pods and bindings "
      "included; p50 "
      "and p99: one decision. Floors are those of scheduler_perf (Kubernetes 1.37, six cores, API server "
      "included).");
  out << reporting::render_text_table(table, reporting::TextStyle::plain);
  return BenchJson{{"nodes", kNodes}, {"shapes", results}};
}

}  // namespace evenkeel::apps
