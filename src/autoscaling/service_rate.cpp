#include "autoscaling/service_rate.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace evenkeel::autoscaling {
namespace {

constexpr double kRemember = 960;   // samples: four hours at one in 15 s
constexpr double kIdleDoubt = 4;    // samples' worth of belief that an idle pod uses nothing
constexpr double kFirstStart = 30;  // seconds
constexpr double kStartsRemembered = 30;
constexpr double kLongestStart = 900;

}  // namespace

void ServiceRate::observe(double requests_per_pod, double cores_per_pod) {
  const bool usable = std::isfinite(requests_per_pod) && std::isfinite(cores_per_pod) &&
                      requests_per_pod > 0 && cores_per_pod > 0;
  if (!usable) return;
  double weight = 1;
  if (known()) {
    // What lies far off the line is a window that was cut, a counter that began anew, a neighbour's theft.
    const double expected = idle_cores() + requests_per_pod * slope();
    const double off = std::abs(cores_per_pod - expected) / expected;
    const double usual = std::max(0.02, 3 * error_);
    if (off > usual) weight = usual / off;
    error_ += std::min(0.05, 1 / samples_) * (std::min(off, 1.0) - error_);
  } else {
    error_ = 0.1;
  }
  const double keep = 1 - 1 / kRemember;
  samples_ = samples_ * keep + 1;
  weight_ = weight_ * keep + weight;
  sum_x_ = sum_x_ * keep + weight * requests_per_pod;
  sum_y_ = sum_y_ * keep + weight * cores_per_pod;
  sum_xx_ = sum_xx_ * keep + weight * requests_per_pod * requests_per_pod;
  sum_xy_ = sum_xy_ * keep + weight * requests_per_pod * cores_per_pod;
}

// Least squares, with kIdleDoubt samples at the origin.
double ServiceRate::slope() const {
  const double weight = weight_ + kIdleDoubt;
  const double spread = sum_xx_ - sum_x_ * sum_x_ / weight;
  const double together = sum_xy_ - sum_x_ * sum_y_ / weight;
  const double through_origin = sum_x_ > 0 ? sum_y_ / sum_x_ : 0;
  if (!(spread > 0)) return through_origin;
  // An idle pod does not use less than nothing, nor nearly all.
  return std::clamp(together / spread, 0.3 * through_origin, through_origin);
}

double ServiceRate::idle_cores() const {
  return weight_ > 0 ? std::max(0.0, (sum_y_ - slope() * sum_x_) / (weight_ + kIdleDoubt)) : 0;
}

double ServiceRate::per_core() const { return 1 / slope(); }

double ServiceRate::doubt() const { return samples_ > 0 ? error_ / std::sqrt(samples_) + 0.005 : 1; }

double ServiceRate::per_pod(double cores) const { return std::max(0.0, (cores - idle_cores()) * per_core()); }

void ServiceRate::save(learning::SavedState& state, const std::string& name) const {
  const std::array<learning::Real, 7> values{samples_, weight_, sum_x_, sum_y_, sum_xx_, sum_xy_, error_};
  state.put(name, values);
}

void ServiceRate::restore(learning::SavedState& state, const std::string& name) {
  std::array<learning::Real, 7> values{};
  state.reals(name, values);
  for (const learning::Real value : values)
    if (!std::isfinite(value) || value < 0) return state.fail(name, "finite numbers that are not negative");
  samples_ = values[0], weight_ = values[1], sum_x_ = values[2], sum_y_ = values[3];
  sum_xx_ = values[4], sum_xy_ = values[5], error_ = values[6];
  if (samples_ > 0 && !(sum_x_ > 0 && sum_y_ > 0)) *this = {};
}

void StartUpTime::learn(double seconds) {
  seconds = std::clamp(seconds, 0.0, kLongestStart);
  seen_ = std::min(seen_ + 1, kStartsRemembered);
  if (seen_ <= 1) {
    mean_s_ = seconds;
    off_s_ = seconds / 4;
    return;
  }
  off_s_ += (std::abs(seconds - mean_s_) - off_s_) / seen_;
  mean_s_ += (seconds - mean_s_) / seen_;
}

void StartUpTime::observe(const ServiceReport& report) {
  std::map<std::string, Time> still;
  for (const ReplicaReport& replica : report.replicas) {
    if (replica.leaves || replica.phase == ReplicaReport::Phase::failed ||
        replica.phase == ReplicaReport::Phase::succeeded)
      continue;
    const auto known = starting_.find(replica.name);
    if (!replica.ready) {
      // One that was ready before and is not now does not start.
      const bool fresh =
          looked_ && !(replica.started && replica.ready_changed && *replica.ready_changed > *replica.started);
      if (known != starting_.end())
        still.insert(*known);
      else if (fresh)
        still.emplace(replica.name,
                      replica.started ? std::min(*replica.started, report.measured) : report.measured);
    } else if (known != starting_.end()) {
      const Time ready =
          replica.ready_changed ? std::min(*replica.ready_changed, report.measured) : report.measured;
      learn(to_seconds(ready - known->second));
    } else if (looked_ && replica.started && replica.ready_changed &&
               *replica.started > report.measured - std::chrono::minutes{2} && seen_ == 0) {
      // Started and became ready between two looks.
      learn(to_seconds(*replica.ready_changed - *replica.started));
    }
  }
  starting_ = std::move(still);
  looked_ = true;
}

Duration StartUpTime::expected() const {
  return from_seconds(seen_ > 0 ? mean_s_ + 1.5 * off_s_ : kFirstStart);
}

void StartUpTime::save(learning::SavedState& state, const std::string& name) const {
  const std::array<learning::Real, 3> values{seen_, mean_s_, off_s_};
  state.put(name, values);
}

void StartUpTime::restore(learning::SavedState& state, const std::string& name) {
  std::array<learning::Real, 3> values{};
  state.reals(name, values);
  for (const learning::Real value : values)
    if (!std::isfinite(value) || value < 0) return state.fail(name, "finite numbers that are not negative");
  seen_ = values[0], mean_s_ = values[1], off_s_ = values[2];
}

}  // namespace evenkeel::autoscaling
