#pragma once
#include <memory>
#include <vector>

#include "simulator/service_histogram.h"
#include "simulator/service_replicas.h"

namespace evenkeel::simulator {

// Counters of one service since the beginning. Every request that arrived is served, refused, lost with its
// pod or still held.
struct ServiceCounters {
  double arrived = 0, served = 0, refused = 0;
  double answered = 0, late = 0;  // calls included; late: not within the bound
  double cpu_s = 0;
  ServiceHistogram responses;  // of the answered
};

struct RunningService {
  RunningService(const ServicePlan& its_plan, bool exact, const Random& random)
      : plan(its_plan), replicas(its_plan, exact, random), table(its_plan.concurrency, its_plan.times) {}

  const ServicePlan& plan;
  ServiceReplicas replicas;
  QueueTable table;
  ServiceCounters counters;
  double load = 0;      // mean utilisation of the pods that were ready in the last step
  double entering = 0;  // requests per second from outside, of its own

  double held(Time now) const;
};
using RunningServices = std::vector<std::unique_ptr<RunningService>>;

// Lets requests flow through services for a step.
class ServiceFlow {
 public:
  virtual ~ServiceFlow() = default;
  // `rate` requests per second of `work` each enter at the first service from `now` on.
  virtual void step(RunningServices& services, Time now, double seconds, double rate, double work) = 0;
};

// Every pod's queue by its mean (service_queue.h), which is quick enough for months. A request is answered
// in the figures when it arrives, with the response it will have. The response of a service that calls others
// is the sum of theirs, taken as independent and gamma distributed.
std::unique_ptr<ServiceFlow> make_fluid_flow(double bound_s);
// Every request by itself. What the other is judged by.
std::unique_ptr<ServiceFlow> make_exact_flow(double bound_s, const Random& random);

}  // namespace evenkeel::simulator
