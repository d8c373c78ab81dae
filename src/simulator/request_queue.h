#pragma once
#include <cstddef>
#include <vector>

#include "base/random.h"
#include "simulator/service_plan.h"

namespace evenkeel::simulator {

// A service time around 1.
double draw_service_time(const ServiceTimes& times, Random& random);
// So many arrivals where `mean` are expected: Poisson.
double draw_count(double mean, Random& random);

// What a pod holds when every request is followed: first come, first served by `servers` at once. Requests
// must be accepted in the order of their arrival.
class RequestQueue {
 public:
  explicit RequestQueue(int servers) : free_at_(static_cast<std::size_t>(servers), 0.0) {}

  double accept(double at_s, double service_s);  // when it will be done
  // Server-seconds spent working between two moments; what ended before is forgotten.
  double busy(double from_s, double to_s);
  std::size_t held(double at_s) const;

 private:
  struct Job {
    double start, end;
  };
  std::vector<double> free_at_;
  std::vector<Job> jobs_;
};

}  // namespace evenkeel::simulator
