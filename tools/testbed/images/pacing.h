// Amounts per second, kept on average since the beginning: who was held up catches up.
#pragma once

#include <chrono>
#include <thread>

class Pacing {
 public:
  explicit Pacing(double per_second) : per_second_(per_second) {}  // 0: as fast as it goes

  // Waits until `done` of the amount may have been done.
  void wait(double done) const {
    if (per_second_ <= 0) return;
    std::this_thread::sleep_until(began_ + std::chrono::duration_cast<Clock::duration>(
                                               std::chrono::duration<double>(done / per_second_)));
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  double per_second_;
  Clock::time_point began_ = Clock::now();
};
