#include "prediction/regression.h"

#include <algorithm>

namespace evenkeel::prediction {
void Regression::add(double x, double y, double weight) {
  weight_ += weight;
  const double dx = x - mean_x_, dy = y - mean_y_;
  mean_x_ += dx * weight / weight_;
  mean_y_ += dy * weight / weight_;
  sum_xx_ += weight * dx * (x - mean_x_);
  sum_yy_ += weight * dy * (y - mean_y_);
  sum_xy_ += weight * dx * (y - mean_y_);
}

void Regression::fade(double keep) {
  weight_ *= keep;
  sum_xx_ *= keep;
  sum_yy_ *= keep;
  sum_xy_ *= keep;
}

void Regression::restore(const LineSums& sums) {
  weight_ = sums.weight;
  mean_x_ = sums.mean_x;
  mean_y_ = sums.mean_y;
  sum_xx_ = sums.sum_xx;
  sum_yy_ = sums.sum_yy;
  sum_xy_ = sums.sum_xy;
}

double Regression::slope() const { return sum_xy_ / (sum_xx_ + kSlopeDoubt); }

double Regression::predict(double x) const { return mean_y_ + slope() * (x - mean_x_); }

double Regression::residual_variance() const {
  if (weight_ <= 1) return 0;
  return std::max(0.0, sum_yy_ - slope() * sum_xy_) / weight_;
}

}  // namespace evenkeel::prediction
