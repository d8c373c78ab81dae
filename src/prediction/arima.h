#pragma once
#include <array>
#include <cstddef>
#include <string>

#include "learning/saved_state.h"

namespace evenkeel::prediction {

// ARIMA(2, 1, 1), one step ahead, its coefficients estimated as it goes by recursive extended least squares
// with forgetting: x(t) = a1 x(t-1) + a2 x(t-2) + b e(t-1) + e(t) for the differences x between successive
// values. No constant, no season. Values that are no number, or negative, are left out.
class Arima {
 public:
  static constexpr std::size_t kTerms = 3;

  void observe(double value);
  double next() const;  // never negative; the last value until four were seen

  void save(learning::SavedState& state, const std::string& name) const;
  void restore(learning::SavedState& state, const std::string& name);

 private:
  using Terms = std::array<double, kTerms>;
  double expected_change() const;
  void learn(double change);

  double seen_ = 0, last_ = 0, scale_ = 0;
  Terms past_{};  // the last two changes and the last error, in units of scale_
  Terms weights_{};
  std::array<Terms, kTerms> doubt_{Terms{10, 0, 0}, Terms{0, 10, 0}, Terms{0, 0, 10}};
};

}  // namespace evenkeel::prediction
