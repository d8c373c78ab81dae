#pragma once
#include <array>
#include <string>

#include "learning/saved_state.h"

namespace evenkeel::prediction {

// How far forecasts turned out to be off, as quantiles: errors are taken in units of their recent size, so
// that a calm hour after a wild one is believed to be calm, and counted in bins that slowly forget.
class ErrorSpread {
 public:
  static constexpr std::size_t kBins = 48;

  ErrorSpread();
  void observe(double error);

  double quantile(double level) const;       // of the next error
  double recent() const { return recent_; }  // mean size, robust
  double weight() const { return weight_; }  // errors counted, forgotten ones less

  void save(learning::SavedState& state, const std::string& name) const;
  void restore(learning::SavedState& state, const std::string& name);

 private:
  std::array<float, kBins> counts_{};
  double recent_, weight_ = 0;
};

}  // namespace evenkeel::prediction
