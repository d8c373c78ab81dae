#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "base/time.h"

namespace evenkeel::monitor {

// The last so many readings of something that rises and falls, and their mean. Allocates once.
class GaugeWindow {
 public:
  explicit GaugeWindow(std::size_t length) : readings_(length) {}
  // `skipped`: samples since the last one at which nobody looked; it was then what it was before.
  void add(double reading, std::size_t skipped = 0);
  std::optional<double> mean() const;

 private:
  void put(double reading);

  std::vector<double> readings_;
  std::size_t next_ = 0, count_ = 0;
};

// What a counter grew by per second over the last so many intervals, each weighted by its length. A counter
// that fell was started anew and says nothing about the interval in which it did: the rate before stands
// until there are two readings again.
class RateWindow {
 public:
  explicit RateWindow(std::size_t intervals) : points_(intervals + 1) {}
  // `skipped`: samples since the last one at which nobody looked; the counter is taken to have grown evenly.
  void add(double counter, Duration at, std::size_t skipped = 0);
  void restart() { count_ = 0; }  // the next reading is of another counter
  std::optional<double> per_second() const { return rate_; }

 private:
  struct Point {
    double counter = 0;
    Duration at{};
  };
  void put(const Point& point);
  const Point& back(std::size_t ago) const {
    return points_[(next_ + points_.size() - 1 - ago) % points_.size()];
  }

  std::vector<Point> points_;
  std::size_t next_ = 0, count_ = 0;
  std::optional<double> rate_;
};

// How many samples each kind of figure is averaged over (DRS section 4.3).
struct WindowLengths {
  std::size_t cpu = 5, network = 5, memory = 3, disk = 3;
};
inline constexpr std::size_t kMostWindow = 600;

}  // namespace evenkeel::monitor
