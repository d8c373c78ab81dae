#pragma once
#include <chrono>
#include <cmath>

namespace evenkeel {

// Cluster time. Deliberately has no now(): time is an argument, read once per turn by the control loop, so a
// simulated week and a real second run the same code.
struct ClusterClock {
  using duration = std::chrono::microseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<ClusterClock>;
  static constexpr bool is_steady = true;
};
using Time = ClusterClock::time_point;
using Duration = ClusterClock::duration;

// The doors between durations and plain numbers, which models compute with.
constexpr double to_seconds(Duration duration) { return static_cast<double>(duration.count()) * 1e-6; }
inline Duration from_seconds(double seconds) {
  return Duration(std::llround(seconds * 1e6));
}  // to the nearest us

}  // namespace evenkeel
