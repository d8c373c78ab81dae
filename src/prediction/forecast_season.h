#pragma once
#include <string>
#include <vector>

#include "base/time.h"
#include "learning/saved_state.h"

namespace evenkeel::prediction {

// What a rate is usually like at a time of the day (or week): a level per bin, learnt from earlier rounds.
// Only the shape is asked for (how much more or less at one time than at another), so a workload that has
// grown since keeps its profile. One visit moves a bin a little and never further than is usual, so that a
// spike leaves hardly a trace while a shift of the clocks is learnt within days.
class SeasonProfile {
 public:
  SeasonProfile(Duration period, Duration bin);

  void observe(Time at, double rate);

  // How the usual rate at `then` relates to the usual one at `now`; 0: one of the two was never seen.
  double ratio(Time now, Time then) const;

  std::size_t bins_known() const;
  std::size_t bins() const { return levels_.size(); }

  void save(learning::SavedState& state, const std::string& name) const;
  void restore(learning::SavedState& state, const std::string& name);

 private:
  std::size_t bin_at(Time at) const;
  void close_visit();

  Duration period_, bin_;
  std::vector<float> levels_;  // negative: never visited
  double spread_;              // how far visits usually lie from their bin, relative
  std::size_t visited_ = 0;    // the bin whose visit is under way
  Time visit_began_{};
  double visit_sum_ = 0;
  double visit_count_ = 0;
};

}  // namespace evenkeel::prediction
