#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cluster/node_report.h"
#include "messaging/report_sender.h"
#include "reporting/text_table.h"

namespace evenkeel::apps {

// One report for people, for programs and for Prometheus.
reporting::TextTable monitor_table(const NodeReport& report);
// `sampled`: when, in seconds since the machine started.
std::string monitor_json(const NodeReport& report, const std::vector<double>& sampled);

struct MonitorFigures {
  NodeReport report;
  std::uint64_t samples = 0;
  double cpu_seconds = 0;  // the monitor's own
  double resident_bytes = 0;
  bool sends = false, is_connected = false;
  messaging::ReportSender::Counts sent;
};
std::string monitor_metrics(const MonitorFigures& figures);

}  // namespace evenkeel::apps
