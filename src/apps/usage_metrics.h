#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "apps/metrics_source.h"
#include "reporting/metrics.h"

namespace evenkeel::apps {

// What is known of live usage, and how well; every count only grows.
struct UsageFigures {
  std::map<std::string, SourceCounts> sources;   // by name
  std::map<std::string, std::uint64_t> refused;  // whatever their source: stale, unknown_node, …
  double oldest_sample_s = 0;                    // of the node that was heard of longest ago
  std::size_t nodes_fresh = 0, nodes_stale = 0;  // stale: never heard of, or too long ago
  std::size_t workloads = 0;                     // with a past
  std::uint64_t profiles_written = 0, profile_failures = 0;
  std::size_t profiles_waiting = 0;
  bool keeps_profiles = false, profiles_healthy = true;
};

// The same for Prometheus.
class UsageMetrics {
 public:
  explicit UsageMetrics(reporting::MetricsRegistry& registry);
  void show(const UsageFigures& figures);

 private:
  reporting::MetricFamily<reporting::Counter>& reports_;   // source
  reporting::MetricFamily<reporting::Counter>& failures_;  // source
  reporting::MetricFamily<reporting::Counter>& refused_;   // source, reason
  reporting::MetricFamily<reporting::Gauge>& nodes_;       // sample
  reporting::Gauge &oldest_, &workloads_, &waiting_, &healthy_;
  reporting::Counter &written_, &write_failures_;
};

}  // namespace evenkeel::apps
