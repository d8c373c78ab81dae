#pragma once
#include "cluster/workload_past.h"

namespace evenkeel::prediction {

// How much variation of x (as a sum of squares) data must show before its slope is believed
// by half.
inline constexpr double kSlopeDoubt = 1e-3;

// y = intercept + slope * x from a stream of pairs, by running means (Welford), so that
// old and new samples weigh the same and nothing is stored. The slope is shrunk towards
// zero until x has been seen to vary: one value of x says nothing about another.
class Regression {
 public:
  void add(double x, double y, double weight = 1.0);
  // Forgets: samples of the past count `keep` (0..1) of what they did.
  void fade(double keep);

  // What it knows, to be kept elsewhere, and back.
  LineSums sums() const { return {weight_, weight_, mean_x_, mean_y_, sum_xx_, sum_yy_, sum_xy_}; }
  void restore(const LineSums& sums);

  bool empty() const { return weight_ <= 0; }
  double weight() const { return weight_; }
  double predict(double x) const;
  double residual_variance() const;  // around the line, not around the mean

 private:
  double slope() const;
  double weight_ = 0, mean_x_ = 0, mean_y_ = 0;
  double sum_xx_ = 0, sum_yy_ = 0, sum_xy_ = 0;  // of deviations from the means
};

}  // namespace evenkeel::prediction
