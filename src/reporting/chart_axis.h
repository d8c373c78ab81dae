#pragma once
#include <string>
#include <vector>

#include "reporting/svg_chart.h"

namespace evenkeel::reporting {

struct Tick {
  double value = 0.0;
  std::string text;
};

// Maps values to pixels along one axis of a chart.
class AxisMapping {
 public:
  // The range of `values` where the axis does not set it, rounded outwards to ticks.
  AxisMapping(const ChartAxis& axis, const std::vector<double>& values, double pixel_low, double pixel_high);

  bool can_show(double value) const;  // finite, and positive on a logarithmic axis
  double pixel(double value) const;   // within the chart, also for a value outside the range
  const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  double position(double value) const;

  Scale scale_;
  double low_, high_;
  double pixel_low_, pixel_high_;
  std::vector<Tick> ticks_;
};

}  // namespace evenkeel::reporting
