#pragma once
#include <cstddef>
#include <vector>

#include "simulator/service_plan.h"

namespace evenkeel::simulator {

// Probability that a request has to wait in M/M/c at this load (0 … 1 of all c servers): Erlang's C formula.
double erlang_c(int servers, double load);

// The queue of one pod in equilibrium, by its load, in units of the mean service time. Exact for
// exponential service times (M/M/c); for others the wait of M/M/c scaled by (1 + variation^2) / 2 (Allen and
// Cunneen), exponential where there is one.
class QueueTable {
 public:
  // Above this load equilibrium is too far away to matter: the rest is a backlog, worked off in order.
  static constexpr double kMostLoad = 0.95;

  QueueTable(int servers, ServiceTimes times);

  double in_system(double load) const;     // mean number that wait or are served
  double load_of(double in_system) const;  // the way back, at most kMostLoad
  double response(double load) const;      // its mean
  double response_variance(double load) const;
  double tail(double load, double response) const;  // P(response > …)

 private:
  double exact_tail(double load, double response) const;

  int servers_;
  ServiceTimes times_;
  std::vector<double> service_;                       // quantiles of the service time, where they are needed
  std::vector<double> in_system_, wait_probability_;  // by load
  std::vector<float> tails_;                          // by load, then by response
};

// What a pod holds when requests are counted by their mean: a queue on its way to the equilibrium of the
// present load (pointwise stationary fluid flow), and a backlog for what is beyond it.
class FluidQueue {
 public:
  struct Step {
    double served = 0, refused = 0;
    double load = 0;     // of the equilibrium its responses are like, on average over the step
    double delay_s = 0;  // before that: the backlog's
  };
  // `rate` requests per second arrive and `speed` could be served.
  Step advance(const QueueTable& table, double rate, double speed, double seconds, double limit);
  // Nothing arrives any more; returns what was served.
  double drain(double speed, double seconds);
  double held() const { return queue_ + backlog_; }

 private:
  double queue_ = 0, backlog_ = 0;
};

}  // namespace evenkeel::simulator
