#include "autoscaling/policies/evenkeel_shadow.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::autoscaling {
namespace {

constexpr double kRemember = 3 * 86400.0;  // seconds
constexpr double kDrain = 30;              // seconds a backlog is spread over when it adds to the load

}  // namespace

void RecommendedLately::add(std::int32_t replicas, Time at, Duration window) {
  while (!entries_.empty() && entries_.back().replicas <= replicas) entries_.pop_back();
  entries_.push_back({at, replicas});
  const auto counts = std::find_if(entries_.begin(), entries_.end(),
                                   [&](const Entry& entry) { return entry.at > at - window; });
  entries_.erase(entries_.begin(), counts);
}

std::int32_t RecommendedLately::highest_at(Time at, Duration window) const {
  for (const Entry& entry : entries_)
    if (entry.at > at - window) return entry.replicas;
  return 0;
}

void ShadowScaling::begin(std::int32_t replicas) {
  wanted_ = ready_ = std::max(replicas, 1);
  ready_at_.clear();
  backlog_ = 0;
}

void ShadowScaling::serve(const Service& service, Duration elapsed, Time now) {
  const double seconds = to_seconds(elapsed);
  const auto started = std::upper_bound(ready_at_.begin(), ready_at_.end(), now - elapsed / 2);
  ready_ += static_cast<std::int32_t>(started - ready_at_.begin());
  ready_at_.erase(ready_at_.begin(), started);
  if (ready_at_.empty()) ready_at_ = std::vector<Time>();  // there are many of us, and pods seldom start

  const double capacity = service.per_pod * ready_;
  const double busy = capacity > 0 ? (service.requests_per_s + backlog_ / kDrain) / capacity : 2;
  const double violated =
      service.curve.share_above({busy, static_cast<double>(ready_), service.per_pod}, service.bound_s);
  backlog_ =
      std::clamp(backlog_ + (service.requests_per_s - capacity) * seconds, 0.0, 600 * service.requests_per_s);
  const double keep = std::exp(-seconds / kRemember);
  tally_.seconds = tally_.seconds * keep + seconds;
  tally_.replica_seconds = tally_.replica_seconds * keep + wanted_ * seconds;
  tally_.violated_seconds = tally_.violated_seconds * keep + violated * seconds;
  tally_.scalings *= keep;
}

void ShadowScaling::scale(std::int32_t recommended, Time now, Duration window, Duration start_up) {
  if (recommended_.highest() == 0) recommended_.add(wanted_, now - Duration{1}, window);
  recommended_.add(recommended, now, window);
  // Stabilised downwards alone: never below the highest of the window, unless it is there already.
  const std::int32_t to = recommended >= wanted_ ? recommended : std::min(wanted_, recommended_.highest());
  if (to == wanted_) return;
  tally_.scalings += 1;
  for (; wanted_ < to; ++wanted_) ready_at_.push_back(now + start_up);
  for (; wanted_ > to; --wanted_) {
    if (ready_at_.empty())
      --ready_;
    else
      ready_at_.pop_back();
  }
  ready_ = std::max(ready_, 1);
}

}  // namespace evenkeel::autoscaling
