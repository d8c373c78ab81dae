#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "autoscaling/policies/evenkeel_curve.h"
#include "base/time.h"
#include "learning/saved_state.h"

namespace evenkeel::autoscaling {

// The highest of what was recommended within a window, as stabilisation sees it.
class RecommendedLately {
 public:
  void add(std::int32_t replicas, Time at, Duration window);
  std::int32_t highest() const { return entries_.empty() ? 0 : entries_.front().replicas; }
  // The highest that still counts at a time; 0: none.
  std::int32_t highest_at(Time at, Duration window) const;

 private:
  struct Entry {
    Time at;
    std::int32_t replicas;
  };
  std::vector<Entry> entries_;  // oldest first; each higher than all that came later
};

// How a workload would have fared under other recommendations than those it was given: pods that start, a
// window of stabilisation, a backlog, and the share of time above the bound that the response curve expects.
// Every one of them sees the same rates, so what they come to can be compared with no experiment on users.
class ShadowScaling {
 public:
  struct Tally {
    double seconds = 0, replica_seconds = 0, violated_seconds = 0, scalings = 0;
    double replicas() const { return seconds > 0 ? replica_seconds / seconds : 0; }
    double violation() const { return seconds > 0 ? violated_seconds / seconds : 0; }
  };
  struct Service {
    double requests_per_s = 0, per_pod = 1, bound_s = 0.25;
    const ResponseCurve& curve;
  };

  // Time passes at a rate, with the pods that are ready.
  void serve(const Service& service, Duration elapsed, Time now);
  void scale(std::int32_t recommended, Time now, Duration window, Duration start_up);

  bool begun() const { return wanted_ > 0; }
  void begin(std::int32_t replicas);
  std::int32_t wanted() const { return wanted_; }
  std::int32_t ready() const { return ready_; }
  double backlog() const { return backlog_; }
  const RecommendedLately& recommended() const { return recommended_; }
  const Tally& tally() const { return tally_; }
  void set_tally(const Tally& tally) { tally_ = tally; }

 private:
  std::int32_t wanted_ = 0, ready_ = 0;
  std::vector<Time> ready_at_;  // of those that start, the next first
  double backlog_ = 0;
  RecommendedLately recommended_;
  Tally tally_;
};

}  // namespace evenkeel::autoscaling
