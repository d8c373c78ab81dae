#include "monitor/windows.h"

#include <algorithm>
#include <numeric>

namespace evenkeel::monitor {

void GaugeWindow::add(double reading) {
  readings_[next_] = reading;
  next_ = (next_ + 1) % readings_.size();
  count_ = std::min(count_ + 1, readings_.size());
}

std::optional<double> GaugeWindow::mean() const {
  if (count_ == 0) return std::nullopt;
  // Until it is full the readings lie at its front, from then on everywhere.
  const auto end = readings_.begin() + static_cast<std::ptrdiff_t>(count_);
  return std::accumulate(readings_.begin(), end, 0.0) / static_cast<double>(count_);
}

void RateWindow::add(double counter, Duration at) {
  if (count_ > 0 && (counter < back(0).counter || at <= back(0).at)) count_ = 0;
  points_[next_] = {.counter = counter, .at = at};
  next_ = (next_ + 1) % points_.size();
  count_ = std::min(count_ + 1, points_.size());
  if (count_ < 2) return;
  const Point &newest = back(0), &oldest = back(count_ - 1);
  rate_ = (newest.counter - oldest.counter) / to_seconds(newest.at - oldest.at);
}

}  // namespace evenkeel::monitor
