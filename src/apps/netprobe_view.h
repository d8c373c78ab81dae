#pragma once
#include <map>
#include <string>

#include "apps/netprobe_agent.h"
#include "apps/netprobe_cluster.h"
#include "messaging/probe_server.h"
#include "monitor/probe_row.h"
#include "reporting/text_table.h"

namespace evenkeel::apps {

// What was measured, for people, for programs and for Prometheus.
using Paths = std::map<std::string, monitor::ProbeRow::Path>;
using Troubles = std::map<std::string, std::string>;
reporting::TextTable netprobe_table(const std::string& origin, const Paths& paths, const Troubles& troubles);
std::string netprobe_json(const std::string& origin, const Paths& paths, const Troubles& troubles);

struct NetprobeFigures {
  const Paths* paths = nullptr;
  NetprobeAgent::Counts made;
  messaging::ProbeServer::Counts answered;
  NetprobeCluster::Counts written;
  std::size_t members = 0;
};
std::string netprobe_metrics(const NetprobeFigures& figures);

}  // namespace evenkeel::apps
