#pragma once
#include <deque>
#include <map>

#include "cluster/service_report.h"
#include "simulator/service_flow.h"

namespace evenkeel::simulator {

// What can be known of one service: counters read now and then, shown late, and differences between them.
// Noise of the counts is added here where requests are counted by their mean.
class ServiceTelemetry {
 public:
  ServiceTelemetry(const ServiceWorldPlan& plan, const Random& random);

  void read(RunningService& service, Time now);  // at every step; reads what is due
  // Nothing where a look fails altogether.
  std::optional<ServiceReport> report(const RunningService& service, Time now) const;

 private:
  struct PodReading {
    Time at{};
    double cpu_s = 0;
  };
  struct Reading {
    Time at{};
    double arrived = 0, held = 0;
    ServiceHistogram responses;
  };
  void read_cpu(RunningService& service, Time now);
  void read_requests(const RunningService& service, Time now);
  bool faulty(ServiceFault::Kind kind, ServiceFault::What what, Time now, const Replica* pod = nullptr) const;
  std::optional<ReplicaReport::Sample> cpu_of(const Replica& replica, double request, Time now) const;
  void add_requests(ServiceReport& report, const RunningService& service, Time now) const;
  void add_metrics(ServiceReport& report, const RunningService& service, Time now) const;

  const ServiceWorldPlan& plan_;
  Random noise_;
  std::map<std::uint64_t, std::deque<PodReading>> pods_;  // by serial, the newest last
  std::map<std::uint64_t, double> true_cpu_;              // at the last reading
  std::deque<Reading> readings_;
  double seen_arrived_ = 0, true_arrived_ = 0;
};

}  // namespace evenkeel::simulator
