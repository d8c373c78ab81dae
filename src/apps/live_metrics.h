#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "apps/live_observer.h"
#include "reporting/metrics.h"
#include "reporting/process_figures.h"

namespace evenkeel::apps {

// Every figure of a running scheduler, by kube-scheduler's names where they mean the same, with its types,
// labels and bucket bounds (pkg/scheduler/metrics of 1.36), so that its dashboards and alerts go on working;
// by ours, evenkeel_*, where they do not.
struct LiveMetrics {
  LiveMetrics(reporting::MetricsRegistry& registry, std::string api_server);
  void carried(const LiveTraffic& traffic);

  reporting::MetricFamily<reporting::Counter>& attempts;           // result, profile
  reporting::MetricFamily<reporting::Histogram>& attempt_seconds;  // result, profile
  reporting::Histogram& algorithm_seconds;
  reporting::MetricFamily<reporting::Histogram>& sli_seconds;  // attempts
  reporting::Histogram& pod_attempts;
  reporting::MetricFamily<reporting::Gauge>& pending;     // queue
  reporting::MetricFamily<reporting::Counter>& incoming;  // queue, event
  reporting::Histogram& victims;
  reporting::Counter& preemptions;
  reporting::MetricFamily<reporting::Gauge>& unschedulable;   // plugin, profile
  reporting::MetricFamily<reporting::Gauge>& cache;           // type
  reporting::MetricFamily<reporting::Gauge>& leading;         // name
  reporting::MetricFamily<reporting::Counter>& requests;      // code, host, method
  reporting::MetricFamily<reporting::Counter>& watch_events;  // resource
  reporting::Counter& watch_restarts;
  reporting::MetricFamily<reporting::Counter>& objects_skipped;  // resource
  reporting::Gauge& binds_in_flight;
  reporting::MetricFamily<reporting::Counter>& bind_failures;  // reason
  reporting::Counter& events_dropped;
  reporting::Gauge& journal_entries;
  reporting::MetricFamily<reporting::Counter>& decisions;  // explained
  reporting::Counter &explained, &unexplained;
  UsageMetrics usage;
  reporting::ProcessFigures process;
  std::string host;  // the API server's
};

// Few words for many messages: conflict, not_found, forbidden, too_many_requests, timeout, server_error,
// other.
std::string_view bind_failure_reason(std::string_view why);

}  // namespace evenkeel::apps
