#include "apps/usage_metrics.h"

namespace evenkeel::apps {

UsageMetrics::UsageMetrics(reporting::MetricsRegistry& registry)
    : reports_(registry.counters({"evenkeel_usage_reports_total",
                                  "Reports of what a node uses, by where they came from.",
                                  {"source"}})),
      failures_(registry.counters({"evenkeel_usage_source_failures_total",
                                   "Questions to a source of metrics that found no answer.",
                                   {"source"}})),
      refused_(registry.counters({"evenkeel_usage_refused_total",
                                  "Reports, or parts of them, that were not believed, by what was wrong.",
                                  {"source", "reason"}})),
      nodes_(registry.gauges({"evenkeel_usage_nodes",
                              "Nodes by whether their last sample is fresh enough to go by.",
                              {"sample"}})),
      oldest_(registry
                  .gauges({"evenkeel_usage_oldest_sample_seconds",
                           "Age of the last sample of the node that was heard of longest ago.",
                           {}})
                  .with({})),
      workloads_(
          registry.gauges({"evenkeel_profile_workloads", "Workloads of whose past something is known.", {}})
              .with({})),
      waiting_(registry.gauges({"evenkeel_profile_waiting", "Workloads whose past is to be written yet.", {}})
                   .with({})),
      healthy_(registry
                   .gauges({"evenkeel_profile_store_healthy",
                            "1 while profiles are kept on disk; 0 while they cannot be, or are not to be.",
                            {}})
                   .with({})),
      written_(
          registry.counters({"evenkeel_profile_written_total", "Workloads' pasts that were written.", {}})
              .with({})),
      write_failures_(registry
                          .counters({"evenkeel_profile_failures_total",
                                     "Batches of workloads' pasts that could not be written at once.",
                                     {}})
                          .with({})) {
  for (const char* sample : {"fresh", "stale"}) nodes_.with({sample}).set(0);
}

void UsageMetrics::show(const UsageFigures& figures) {
  for (const auto& [source, counts] : figures.sources) {
    reports_.with({source}).raise_to(counts.reports);
    failures_.with({source}).raise_to(counts.failures);
    for (const auto& [reason, count] : counts.refused) refused_.with({source, reason}).raise_to(count);
  }
  for (const auto& [reason, count] : figures.refused) refused_.with({"any", reason}).raise_to(count);
  nodes_.with({"fresh"}).set(static_cast<double>(figures.nodes_fresh));
  nodes_.with({"stale"}).set(static_cast<double>(figures.nodes_stale));
  oldest_.set(figures.oldest_sample_s);
  workloads_.set(static_cast<double>(figures.workloads));
  waiting_.set(static_cast<double>(figures.profiles_waiting));
  healthy_.set(figures.keeps_profiles && figures.profiles_healthy ? 1 : 0);
  written_.raise_to(figures.profiles_written);
  write_failures_.raise_to(figures.profile_failures);
}

}  // namespace evenkeel::apps
