#pragma once
#include <atomic>
#include <memory>
#include <string>

#include "apps/controllers_live.h"
#include "kubernetes/client_api.h"
#include "reporting/metrics.h"
#include "reporting/process_figures.h"
#include "reporting/status_server.h"

namespace evenkeel::apps {

// How running controllers are asked about themselves: health and /metrics. Told by the controllers' thread;
// the server has one of its own.
class ControllersStatus {
 public:
  ControllersStatus();

  void turned(const LiveControllers& controllers, const kubernetes::ApiClient& client);
  void stopping() { stopping_.store(true, std::memory_order_relaxed); }

  // Nothing where `listen` is empty.
  Result<std::unique_ptr<reporting::StatusServer>> serve(const std::string& listen);

 private:
  reporting::MetricsRegistry registry_;
  reporting::ProcessFigures process_{registry_};
  std::atomic<Duration::rep> last_turn_{0};
  std::atomic<bool> synced_{false}, stopping_{false};
  reporting::Gauge &groups_, &topologies_, &pods_, &leads_, &constrained_, &troubled_;
  reporting::Counter& looks_;
  reporting::MetricFamily<reporting::Counter>&writes_, &evictions_, &requests_;
};

}  // namespace evenkeel::apps
