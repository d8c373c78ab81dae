#pragma once
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "learning/saved_state.h"

namespace evenkeel::autoscaling {

// What a rate has been like lately: where it was on average, and by how much it jumps, as shares of it (the
// standard deviation of what comes and goes again; a steady rise hardly shows). Pods can follow what jumps
// from one minute to the next, to a degree; what jumps from one report to the next they cannot, and it has to
// be held in reserve.
class RateLevel {
 public:
  void observe(Time at, double rate);  // not later than the last, or not a rate: left out

  double level() const { return level_; }
  double noise() const { return minutes_.size(); }   // from minute to minute
  double bursts() const { return reports_.size(); }  // from report to report

  void save(learning::SavedState& state, const std::string& name) const;
  void restore(learning::SavedState& state, const std::string& name);

 private:
  // The mean square of relative changes.
  struct Jumps {
    double square, over;  // and the seconds behind it
    void observe(double before, double now, double elapsed);
    double size() const;
  };
  static constexpr double kWorth = 300;  // seconds that what is assumed at first counts for

  std::vector<std::pair<Time, double>> minute_;  // the last one's rates, oldest first
  double level_ = 0, level_over_ = 0;
  Jumps minutes_{0.1 * 0.1, kWorth}, reports_{0.05 * 0.05, kWorth};
};

}  // namespace evenkeel::autoscaling
