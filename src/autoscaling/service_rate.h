#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cluster/service_report.h"
#include "learning/saved_state.h"

namespace evenkeel::autoscaling {

// How many requests a second a core serves, learnt from what pods use at the rates they get: use per pod is a
// line over requests per pod, its slope the cost of a request and its height at zero what an idle pod uses.
// Only samples of pods that keep up are to be given: one that cannot serve what arrives looks cheaper than it
// is.
class ServiceRate {
 public:
  void observe(double requests_per_pod, double cores_per_pod);

  bool known() const { return samples_ >= kNeeded; }
  double samples() const { return samples_; }
  double per_core() const;    // requests/s; a positive, finite number where known()
  double idle_cores() const;  // of a pod
  double doubt() const;       // relative standard error of per_core()
  // Requests/s that a pod with so many cores to itself gets through; 0 where even idling takes all of them.
  double per_pod(double cores) const;

  void save(learning::SavedState& state, const std::string& name) const;
  void restore(learning::SavedState& state, const std::string& name);

  static constexpr double kNeeded = 4;

 private:
  double slope() const;

  double samples_ = 0;  // forgotten ones count less
  double weight_ = 0, sum_x_ = 0, sum_y_ = 0, sum_xx_ = 0, sum_xy_ = 0, error_ = 0;
};

// How long a new pod takes to become ready, from its first sight in a report.
class StartUpTime {
 public:
  void observe(const ServiceReport& report);
  Duration expected() const;  // long enough for nine in ten, about
  double seen() const { return seen_; }

  void save(learning::SavedState& state, const std::string& name) const;
  void restore(learning::SavedState& state, const std::string& name);

 private:
  void learn(double seconds);

  std::map<std::string, Time> starting_;  // pods that are not ready yet, and when they were first seen
  bool looked_ = false;                   // what the first report shows began earlier, nobody knows when
  double seen_ = 0, mean_s_ = 0, off_s_ = 0;
};

}  // namespace evenkeel::autoscaling
