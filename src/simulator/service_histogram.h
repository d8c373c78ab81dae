#pragma once
#include <array>
#include <cstddef>

namespace evenkeel::simulator {

// Response times, counted as Prometheus counts them: in buckets, 17 % apart from a millisecond to a minute.
class ServiceHistogram {
 public:
  static constexpr std::size_t kBounds = 72;
  static const std::array<double, kBounds>& bounds();  // upper, in seconds; one more bucket has none

  void add(double response_s, double count = 1);
  // `tail(bound)` of `count` requests took longer than the bound.
  template <class Tail>
  void add_distribution(double count, Tail tail) {
    double above = 1;
    for (std::size_t i = 0; i < kBounds; ++i) {
      const double beyond = tail(bounds()[i]);
      counts_[i] += count * (above - beyond);
      above = beyond;
    }
    counts_[kBounds] += count * above;
  }
  ServiceHistogram since(const ServiceHistogram& earlier) const;
  double count() const;
  // As histogram_quantile: linear within its bucket; not a number without requests.
  double quantile(double q) const;

 private:
  std::array<double, kBounds + 1> counts_{};
};

}  // namespace evenkeel::simulator
