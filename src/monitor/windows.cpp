#include "monitor/windows.h"

#include <algorithm>
#include <numeric>

namespace evenkeel::monitor {

void GaugeWindow::put(double reading) {
  readings_[next_] = reading;
  next_ = (next_ + 1) % readings_.size();
  count_ = std::min(count_ + 1, readings_.size());
}

void GaugeWindow::add(double reading, std::size_t skipped) {
  const double before = count_ == 0 ? reading : readings_[(next_ + readings_.size() - 1) % readings_.size()];
  for (skipped = count_ == 0 ? 0 : std::min(skipped, readings_.size()); skipped > 0; --skipped) put(before);
  put(reading);
}

std::optional<double> GaugeWindow::mean() const {
  if (count_ == 0) return std::nullopt;
  // Until it is full the readings lie at its front, from then on everywhere.
  const auto end = readings_.begin() + static_cast<std::ptrdiff_t>(count_);
  return std::accumulate(readings_.begin(), end, 0.0) / static_cast<double>(count_);
}

void RateWindow::put(const Point& point) {
  points_[next_] = point;
  next_ = (next_ + 1) % points_.size();
  count_ = std::min(count_ + 1, points_.size());
}

void RateWindow::add(double counter, Duration at, std::size_t skipped) {
  if (count_ > 0 && (counter < back(0).counter || at <= back(0).at)) count_ = 0;
  if (count_ > 0 && skipped > 0) {
    const Point before = back(0);
    const auto steps = static_cast<double>(skipped + 1);
    for (std::size_t left = std::min(skipped, points_.size()); left > 0; --left) {
      const double share = (steps - static_cast<double>(left)) / steps;
      put({.counter = before.counter + share * (counter - before.counter),
           .at = before.at + from_seconds(share * to_seconds(at - before.at))});
    }
  }
  put({.counter = counter, .at = at});
  if (count_ < 2) return;
  const Point &newest = back(0), &oldest = back(count_ - 1);
  rate_ = (newest.counter - oldest.counter) / to_seconds(newest.at - oldest.at);
}

}  // namespace evenkeel::monitor
