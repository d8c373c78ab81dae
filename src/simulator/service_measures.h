#pragma once
#include "simulator/service_flow.h"

namespace evenkeel::simulator {

struct ServicePoint {
  double at_s = 0;
  double requests_per_s = 0, response_s = 0;  // at the level's percentile; NaN without requests
  double load = 0;                            // of the first service
  std::int32_t wanted = 0, ready = 0;         // of all services
};

// What a run comes to. Replicas are those that run or start; requests and responses are those of the first
// service, from end to end; what is before `measured_from` does not count.
class ServiceMeasures {
 public:
  struct Summary {
    double seconds = 0;
    double replicas = 0;  // mean of the sum over services
    double replicas_most = 0;
    double cpu_utilization = 0;     // DScaler eq. 2: over time and pods that are ready
    double violation = 0;           // eq. 1: share of time in windows whose percentile was above the bound
    double late = 0, unserved = 0;  // shares of requests; unserved: refused or lost
    double requests = 0;
    double response_s = 0;  // at the level's percentile, over all requests
    double pending = 0;     // mean number of pods without a node
    std::int64_t scalings = 0, ups = 0, downs = 0;
    std::vector<double> by_service;  // mean replicas
  };

  ServiceMeasures(const ServiceWorldPlan& plan, bool keep_series) : plan_(plan), keep_series_(keep_series) {}

  void step(const RunningServices& services, Time now, double seconds);  // at the end of a step
  void scaled(std::int32_t from, std::int32_t to, Time now);
  Summary summarise() const;
  const std::vector<ServicePoint>& series() const { return series_; }  // a point per window

 private:
  void close_window(const RunningServices& services, Time now);

  const ServiceWorldPlan& plan_;
  bool keep_series_;
  double seconds_ = 0, replica_seconds_ = 0, pending_seconds_ = 0, load_seconds_ = 0, violated_seconds_ = 0;
  std::vector<double> by_service_;
  double most_ = 0;
  std::int64_t ups_ = 0, downs_ = 0;
  ServiceCounters first_, window_, last_;
  double first_lost_ = 0, window_lost_ = 0, last_lost_ = 0;
  double window_seconds_ = 0;
  std::vector<ServicePoint> series_;
};

}  // namespace evenkeel::simulator
