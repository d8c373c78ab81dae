#pragma once
#include <cstddef>
#include <vector>

namespace evenkeel::reporting {

struct SeriesPoint {
  double at_s = 0.0;
  double imbalance = 0.0;    // DRS eq. 13, 0..1
  double utilization = 0.0;  // DRS eq. 12, 0..1
};

// A run of any length in bounded memory, so that a page opened late sees all of it: when full, neighbouring
// points are averaged and each later point stands for twice as many samples. Averages keep the mean; a peak
// is flattened.
class SeriesHistory {
 public:
  explicit SeriesHistory(std::size_t capacity = 600);  // at least 3

  void add(const SeriesPoint& sample);

  // Oldest first, at most `capacity` points; the last one is always the newest sample.
  std::vector<SeriesPoint> points() const;

 private:
  void halve();

  std::size_t capacity_;
  std::size_t samples_per_point_ = 1;
  std::vector<SeriesPoint> points_;  // full ones only
  SeriesPoint open_;                 // sum of the samples of the point that is not full yet
  std::size_t open_samples_ = 0;
  SeriesPoint newest_;
};

}  // namespace evenkeel::reporting
