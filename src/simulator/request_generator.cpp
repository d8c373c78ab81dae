#include "simulator/request_generator.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace evenkeel::simulator {
namespace {

constexpr double kDay = 86400, kHour = 3600;

double level_at(const RequestShape& shape, double at) {
  double level = 1;
  if (!shape.points.empty()) {
    const auto right = std::upper_bound(shape.points.begin(), shape.points.end(), at,
                                        [](double x, const auto& point) { return x < point.first; });
    if (right == shape.points.begin()) {
      level = right->second;
    } else if (right == shape.points.end()) {
      level = shape.points.back().second;
    } else {
      const auto left = right - 1;
      level =
          left->second + (right->second - left->second) * (at - left->first) / (right->first - left->first);
    }
  }
  const double day = std::floor(at / kDay);
  const double phase = 2 * std::numbers::pi * (at - to_seconds(shape.peak_at)) / kDay;
  level *= 1 + shape.daily * std::cos(phase);
  if (std::fmod(day, 7) >= 5) level *= shape.weekend;
  return level * std::max(0.0, 1 + shape.growth * day);
}

// Up, along and down again.
double trapeze(double since, double rise, double hold, double fall) {
  if (since < 0) return 0;
  if (since < rise) return since / rise;
  if (since < rise + hold) return 1;
  if (since < rise + hold + fall) return 1 - (since - rise - hold) / fall;
  return 0;
}

void add_events(const RequestShape& shape, Random random, std::vector<double>& factors) {
  const RequestShape::Events& events = shape.events;
  const double step = to_seconds(shape.step), rise = to_seconds(events.rise), hold = to_seconds(events.hold),
               fall = to_seconds(events.fall);
  const double days = std::ceil(to_seconds(shape.length) / kDay);
  for (double day = 0; day < days; day += 1) {
    const double whole = std::floor(events.per_day);
    const double count = whole + (random.chance(events.per_day - whole) ? 1 : 0);
    for (double i = 0; i < count; i += 1) {
      const double begins = day * kDay + random.between(to_seconds(events.first), to_seconds(events.last));
      const double height = events.height * random.between(0.6, 1.4);
      const double ends = begins + rise + hold + fall;
      for (auto slot = static_cast<std::size_t>(begins / step);
           slot < factors.size() && static_cast<double>(slot) * step < ends; ++slot)
        factors[slot] += height * trapeze(static_cast<double>(slot) * step - begins, rise, hold, fall);
    }
  }
}

void add_bursts(const RequestShape& shape, Random random, std::vector<double>& factors) {
  const double step = to_seconds(shape.step), all = to_seconds(shape.length);
  if (shape.bursts.per_hour <= 0) return;
  const double gap = kHour / shape.bursts.per_hour;
  for (double at = random.exponential(gap); at < all; at += random.exponential(gap)) {
    const double height = random.exponential(shape.bursts.height);
    const double length = std::max(step, random.exponential(to_seconds(shape.bursts.length)));
    for (auto slot = static_cast<std::size_t>(at / step);
         slot < factors.size() && static_cast<double>(slot) * step < at + length; ++slot)
      factors[slot] += height;
  }
}

// A first-order process of standard deviation `spread`.
class Wandering {
 public:
  Wandering(double spread, double memory_steps, Random random)
      : spread_(spread), kept_(std::exp(-1 / std::max(memory_steps, 1e-6))), random_(random) {
    value_ = random_.normal(0, spread_);
  }
  double factor() {
    value_ = kept_ * value_ + std::sqrt(1 - kept_ * kept_) * random_.normal(0, spread_);
    return std::exp(value_ - spread_ * spread_ / 2);
  }

 private:
  double spread_, kept_;
  Random random_;
  double value_ = 0;
};

}  // namespace

RequestRates make_requests(const RequestShape& shape, const Random& random) {
  RequestRates rates;
  rates.step = shape.step;
  const double step = to_seconds(shape.step);
  const auto steps = static_cast<std::size_t>(std::max<Duration::rep>(1, shape.length / shape.step));
  std::vector<double> factors(steps, 1.0);
  add_events(shape, random.fork("events"), factors);
  add_bursts(shape, random.fork("bursts"), factors);
  const double memory = to_seconds(shape.noise.memory) / step;
  Wandering noise(shape.noise.spread, memory, random.fork("noise"));
  Wandering work(shape.work_spread, memory, random.fork("work"));
  for (std::size_t i = 0; i < steps; ++i) {
    const double at = (static_cast<double>(i) + 0.5) * step;
    const double noisy = shape.noise.spread > 0 ? noise.factor() : 1;
    rates.per_s.push_back(static_cast<float>(level_at(shape, at) * factors[i] * noisy));
    if (shape.work_spread > 0) rates.work.push_back(static_cast<float>(work.factor()));
  }
  return rates;
}

}  // namespace evenkeel::simulator
