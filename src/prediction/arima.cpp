#include "prediction/arima.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace evenkeel::prediction {
namespace {

constexpr double kForget = 0.995;  // per value: about 200 are remembered
constexpr double kMostDoubt = 100;
constexpr double kMostChange = 5;  // in units of a usual one: beyond, one value is not believed

}  // namespace

double Arima::expected_change() const {
  double sum = 0;
  for (std::size_t i = 0; i < kTerms; ++i) sum += weights_[i] * past_[i];
  return std::clamp(sum, -kMostChange, kMostChange) * scale_;
}

double Arima::next() const { return seen_ < 4 ? last_ : std::max(0.0, last_ + expected_change()); }

void Arima::learn(double change) {
  Terms gain{};
  double power = kForget;
  for (std::size_t i = 0; i < kTerms; ++i) {
    for (std::size_t j = 0; j < kTerms; ++j) gain[i] += doubt_[i][j] * past_[j];
    power += past_[i] * gain[i];
  }
  double error = change;
  for (std::size_t i = 0; i < kTerms; ++i) error -= weights_[i] * past_[i];
  double most = 0;
  for (std::size_t i = 0; i < kTerms; ++i) {
    weights_[i] = std::clamp(weights_[i] + gain[i] / power * error, -1.5, 1.5);
    for (std::size_t j = 0; j < kTerms; ++j)
      doubt_[i][j] = (doubt_[i][j] - gain[i] * gain[j] / power) / kForget;
    most = std::max(most, doubt_[i][i]);
  }
  // Where nothing happens nothing is learnt, and forgetting alone would make doubt grow without end.
  if (most > kMostDoubt)
    for (Terms& row : doubt_)
      for (double& value : row) value *= kMostDoubt / most;
  past_ = {change, past_[0], error};
}

void Arima::observe(double value) {
  if (!std::isfinite(value) || value < 0) return;
  if (seen_ >= 1) {
    const double change = value - last_;
    scale_ += (std::abs(change) - scale_) / std::min(seen_, 100.0);
    if (scale_ > 0) learn(std::clamp(change / scale_, -kMostChange, kMostChange));
  }
  last_ = value;
  seen_ = std::min(seen_ + 1, 1e9);
}

void Arima::save(learning::SavedState& state, const std::string& name) const {
  std::vector<learning::Real> values{seen_, last_, scale_};
  values.insert(values.end(), past_.begin(), past_.end());
  values.insert(values.end(), weights_.begin(), weights_.end());
  for (const Terms& row : doubt_) values.insert(values.end(), row.begin(), row.end());
  state.put(name, values);
}

void Arima::restore(learning::SavedState& state, const std::string& name) {
  std::vector<learning::Real> values(3 + 2 * kTerms + kTerms * kTerms);
  state.reals(name, values);
  for (const learning::Real value : values)
    if (!std::isfinite(value)) return state.fail(name, "finite numbers");
  if (!state.status()) return;
  auto from = values.begin();
  seen_ = *from++, last_ = *from++, scale_ = *from++;
  for (double& value : past_) value = *from++;
  for (double& value : weights_) value = *from++;
  for (Terms& row : doubt_)
    for (double& value : row) value = *from++;
}

}  // namespace evenkeel::prediction
