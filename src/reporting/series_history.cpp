#include "reporting/series_history.h"

#include <algorithm>

namespace evenkeel::reporting {
namespace {

SeriesPoint sum(const SeriesPoint& a, const SeriesPoint& b) {
  return {a.at_s + b.at_s, a.imbalance + b.imbalance, a.utilization + b.utilization};
}

SeriesPoint scaled(const SeriesPoint& point, double factor) {
  return {point.at_s * factor, point.imbalance * factor, point.utilization * factor};
}

}  // namespace

// One place is kept for the newest sample, which points() shows before its average is complete.
SeriesHistory::SeriesHistory(std::size_t capacity) : capacity_(std::max<std::size_t>(capacity, 3)) {}

void SeriesHistory::add(const SeriesPoint& sample) {
  newest_ = sample;
  open_ = sum(open_, sample);
  if (++open_samples_ < samples_per_point_) return;
  if (points_.size() + 1 >= capacity_) halve();
  points_.push_back(scaled(open_, 1.0 / static_cast<double>(open_samples_)));
  open_ = {};
  open_samples_ = 0;
}

void SeriesHistory::halve() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i + 1 < points_.size(); i += 2) {
    points_[kept++] = scaled(sum(points_[i], points_[i + 1]), 0.5);
  }
  if (points_.size() % 2 == 1) points_[kept++] = points_.back();
  points_.resize(kept);
  samples_per_point_ *= 2;
}

std::vector<SeriesPoint> SeriesHistory::points() const {
  std::vector<SeriesPoint> all = points_;
  const bool newest_is_missing = open_samples_ > 0 || (!all.empty() && all.back().at_s < newest_.at_s);
  if (newest_is_missing) all.push_back(newest_);
  return all;
}

}  // namespace evenkeel::reporting
