#include "simulator/request_queue.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::simulator {

double draw_service_time(const ServiceTimes& times, Random& random) {
  switch (times.kind) {
    case ServiceTimes::Kind::exponential:
      return random.exponential(1);
    case ServiceTimes::Kind::log_normal: {
      const double variance = std::log1p(times.variation * times.variation);
      return std::exp(random.normal(-variance / 2, std::sqrt(variance)));
    }
    case ServiceTimes::Kind::fixed:
      return 1;
  }
  return 1;
}

double draw_count(double mean, Random& random) {
  if (mean <= 0) return 0;
  if (mean > 50) return std::max(0.0, std::round(random.normal(mean, std::sqrt(mean))));
  double count = 0;
  for (double at = random.exponential(1); at < mean; at += random.exponential(1)) count += 1;
  return count;
}

double RequestQueue::accept(double at_s, double service_s) {
  const auto earliest = std::min_element(free_at_.begin(), free_at_.end());
  const double start = std::max(at_s, *earliest);
  *earliest = start + service_s;
  jobs_.push_back({start, *earliest});
  return *earliest;
}

double RequestQueue::busy(double from_s, double to_s) {
  double sum = 0;
  for (const Job& job : jobs_) sum += std::max(0.0, std::min(to_s, job.end) - std::max(from_s, job.start));
  std::erase_if(jobs_, [&](const Job& job) { return job.end <= to_s; });
  return sum;
}

std::size_t RequestQueue::held(double at_s) const {
  return static_cast<std::size_t>(
      std::count_if(jobs_.begin(), jobs_.end(), [&](const Job& job) { return job.end > at_s; }));
}

}  // namespace evenkeel::simulator
