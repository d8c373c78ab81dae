#include "reporting/chart_axis.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "reporting/number_format.h"

namespace evenkeel::reporting {
namespace {

constexpr double kWantedTicks = 5.0;
constexpr int kMaxDecades = 7;  // beyond, every second or third decade is labelled

// Steps people count time in, in seconds.
constexpr std::array<double, 20> kTimeSteps = {1,     2,     5,     10,    15,     30,    60,
                                               120,   300,   600,   900,   1800,   3600,  7200,
                                               10800, 21600, 43200, 86400, 172800, 604800};

double round_step(double span) {
  const double raw = span / kWantedTicks;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  const double fraction = raw / power;
  return power * (fraction <= 1.0 ? 1.0 : fraction <= 2.0 ? 2.0 : fraction <= 5.0 ? 5.0 : 10.0);
}

double time_step(double span) {
  const auto step = std::lower_bound(kTimeSteps.begin(), kTimeSteps.end(), span / kWantedTicks);
  return step == kTimeSteps.end() || span < kTimeSteps.front() ? round_step(span) : *step;
}

std::string tick_text(double value, AxisFormat format) {
  switch (format) {
    case AxisFormat::number:
      return format_number(value);
    case AxisFormat::percent:
      return format_number(value * 100.0) + " %";
    case AxisFormat::duration:
      return value == 0.0 ? "0" : format_duration(value);
  }
  return {};
}

std::string power_text(int exponent, AxisFormat format) {
  if (format == AxisFormat::number && (exponent > 5 || exponent < -4)) return "1e" + std::to_string(exponent);
  return tick_text(std::pow(10.0, exponent), format);
}

}  // namespace

AxisMapping::AxisMapping(const ChartAxis& axis, const std::vector<double>& values, double pixel_low,
                         double pixel_high)
    : scale_(axis.scale), low_(0.0), high_(1.0), pixel_low_(pixel_low), pixel_high_(pixel_high) {
  bool is_first = true;
  for (const double value : values) {
    if (!can_show(value)) continue;
    low_ = is_first ? value : std::min(low_, value);
    high_ = is_first ? value : std::max(high_, value);
    is_first = false;
  }
  if (axis.low && can_show(*axis.low)) low_ = *axis.low;
  if (axis.high && can_show(*axis.high)) high_ = *axis.high;

  if (scale_ == Scale::logarithmic) {
    const int first = static_cast<int>(std::floor(std::log10(is_first ? 1.0 : low_)));
    const int last = std::max(static_cast<int>(std::ceil(std::log10(is_first ? 10.0 : high_))), first + 1);
    low_ = std::pow(10.0, first);
    high_ = std::pow(10.0, last);
    const int every = (last - first) / kMaxDecades + 1;
    for (int e = first; e <= last; e += every)
      ticks_.push_back({std::pow(10.0, e), power_text(e, axis.format)});
    return;
  }
  if (!(high_ > low_)) high_ = low_ + (low_ == 0.0 ? 1.0 : std::abs(low_));
  const double step =
      axis.format == AxisFormat::duration ? time_step(high_ - low_) : round_step(high_ - low_);
  if (!axis.low) low_ = std::floor(low_ / step) * step;
  // Time ends where the data ends; a value gets room up to the next tick.
  if (!axis.high && axis.format != AxisFormat::duration) high_ = std::ceil(high_ / step - 1e-9) * step;
  const double first = std::ceil(low_ / step - 1e-9);
  for (double k = first; k * step <= high_ + step * 1e-9; k += 1.0) {
    ticks_.push_back({k * step, tick_text(k * step, axis.format)});
  }
}

bool AxisMapping::can_show(double value) const {
  return std::isfinite(value) && (scale_ == Scale::linear || value > 0.0);
}

double AxisMapping::position(double value) const {
  if (scale_ == Scale::linear) return (value - low_) / (high_ - low_);
  return (std::log10(value) - std::log10(low_)) / (std::log10(high_) - std::log10(low_));
}

double AxisMapping::pixel(double value) const {
  return pixel_low_ + std::clamp(position(value), 0.0, 1.0) * (pixel_high_ - pixel_low_);
}

}  // namespace evenkeel::reporting
