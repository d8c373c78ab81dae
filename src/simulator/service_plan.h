#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "cluster/scaler.h"
#include "simulator/request_rates.h"

namespace evenkeel::simulator {

// How long one request is worked on, by its spread around the mean.
struct ServiceTimes {
  enum class Kind { exponential, log_normal, fixed };
  Kind kind = Kind::exponential;
  double variation = 1;  // standard deviation over mean; of a log-normal
  bool operator==(const ServiceTimes&) const = default;

  double squared_variation() const;
};

// A service and the pods it runs as. A pod works on up to `concurrency` requests at once, each at an equal
// share of its CPU limit, so it completes `requests_per_s()` at most; the others wait in its own queue.
struct ServicePlan {
  struct Call {
    std::size_t to = 0;  // a later service of the plan: calls form no circle
    double per_request = 1;
  };
  std::string name = "service";
  double cpu_request = 0.5, cpu_limit = 0.5;  // cores
  Bytes memory{512LL << 20};
  double cpu_per_request = 0.01;  // seconds of a core
  int concurrency = 1;
  ServiceTimes times;
  double queue_limit = 0;  // requests a pod holds at most, the rest is refused; 0: no limit
  Duration start_up{std::chrono::seconds{10}};
  double start_up_spread = 0;                // of a log-normal factor
  double start_up_cpu = 0;                   // cores used meanwhile
  Duration warm_up{};                        // after it is ready
  double warm_up_speed = 1;                  // share of the full speed at its beginning
  Duration grace{std::chrono::seconds{30}};  // a leaving pod has this long for what it accepted
  std::int32_t replicas = 1;                 // at the beginning, ready
  std::vector<Call> calls;                   // made one after the other, once its own work is done
  // What else it is asked from outside, beside its callers; none: nothing. Of a request's usual work.
  std::shared_ptr<const RequestRates> rates;
  ScalerSpec scaler;

  double requests_per_s() const { return cpu_limit / cpu_per_request; }
};

// What shows a service, and how late: the metrics API for CPU, Prometheus for requests.
struct TelemetryPlan {
  Duration cpu_every{std::chrono::seconds{15}};  // also the window of a sample
  Duration cpu_delay{std::chrono::seconds{3}};
  Duration scrape_every{std::chrono::seconds{15}};
  Duration scrape_delay{std::chrono::seconds{1}};
  Duration window{std::chrono::seconds{30}};  // of rates and percentiles
};

struct ServiceFault {
  enum class Kind { missing, stale, not_a_number, unseen };
  enum class What { cpu, requests, both };
  Kind kind = Kind::missing;
  What what = What::both;
  double share = 1;  // of the pods whose CPU is meant
  Duration from{}, to{};
};

struct NodeRoom {
  std::string name;
  double cpu = 0;  // cores
  Bytes memory;
};

// One world's whole future.
struct ServiceWorldPlan {
  std::vector<ServicePlan> services;  // requests enter at the first
  std::shared_ptr<const RequestRates> rates;
  Duration length{};
  Duration measured_from{};
  Duration step{std::chrono::seconds{1}};
  bool exact = false;                               // request by request instead of the mean of the queues
  ServiceLevel level;                               // from end to end
  Duration level_window{std::chrono::seconds{15}};  // what its percentile is taken over
  TelemetryPlan telemetry;
  std::vector<ServiceFault> faults;
  double scale_failures = 0;    // probability that a scaling is refused
  std::vector<NodeRoom> nodes;  // empty: room for all
};

}  // namespace evenkeel::simulator
