#pragma once
#include <span>

#include "base/time.h"
#include "prediction/regression.h"

namespace evenkeel::prediction {

// How much longer a pod will run: log-normal, with a median and a spread; or endless.
struct Lifetime {
  double log_median = 0;  // of seconds
  double log_spread = 0;
  bool endless = true;

  double median_s() const;

  // The chance that a pod that has run for age_s still runs after ahead_s more.
  double survival(double age_s, double ahead_s) const;
  // The same for several times ahead.
  void survival(double age_s, std::span<const double> ahead_s, std::span<double> chances) const;
};

// Learns from ends. Run time is taken to depend on the CPU request by a power law, which
// holds for fixed work (power -1), fixed duration (power 0) and what lies between.
//
// Assumes the runs it is told of were whole: evicted and deleted pods teach nothing.
class LifetimeHistory {
 public:
  void add(double cpu_request, double ran_s);
  std::size_t ends() const { return ends_; }
  LineSums sums() const { return log_life_.sums(); }
  void restore(const LineSums& sums, std::size_t ends) {
    log_life_.restore(sums);
    ends_ = ends;
  }
  Lifetime predict(double cpu_request) const;

 private:
  Regression log_life_;
  std::size_t ends_ = 0;
};

}  // namespace evenkeel::prediction
