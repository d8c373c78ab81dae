#include "kubernetes/lease.h"

#include <algorithm>
#include <utility>

namespace evenkeel::kubernetes {
namespace {

// Renewal times are the holder's own clock: that they change counts, not what they say.
bool is_same(const LeaseRecord& a, const LeaseRecord& b) {
  return a.holder == b.holder && a.renewed == b.renewed && a.acquired == b.acquired &&
         a.transitions == b.transitions && a.duration_seconds == b.duration_seconds;
}

}  // namespace

Lease::Ask Lease::begin(Time now) {
  begun_ = now;
  if (!leads(now)) is_ours_ = false;
  tried_at_once_ = is_ours_ && !resource_version_.empty();
  return tried_at_once_ ? Ask::replace : Ask::read;
}

Lease::Ask Lease::found(const LeaseRecord& record, std::string resource_version, Time now) {
  if (observed_at_ == Time::min() || !is_same(record, observed_)) {
    observed_ = record;
    observed_at_ = now;
  }
  most_transitions_ = std::max(most_transitions_, record.transitions);
  resource_version_ = std::move(resource_version);
  tried_at_once_ = false;
  if (record.holder != options_.identity) is_ours_ = false;
  const bool is_over = record.holder.empty() || record.holder == options_.identity ||
                       record.holder == dead_ ||
                       now >= observed_at_ + std::chrono::seconds(record.duration_seconds);
  return is_over ? Ask::replace : Ask::nothing;
}

Lease::Ask Lease::found_none() {
  observed_ = {};
  observed_at_ = Time::min();
  resource_version_.clear();
  tried_at_once_ = false;
  return Ask::create;
}

Lease::Ask Lease::refused() { return std::exchange(tried_at_once_, false) ? Ask::read : Ask::nothing; }

LeaseRecord Lease::record(Time now) {
  pending_ = {
      options_.identity,
      static_cast<std::int32_t>(std::chrono::duration_cast<std::chrono::seconds>(options_.duration).count()),
      now, now, 0};
  const bool goes_on = observed_.holder == options_.identity;
  if (goes_on) pending_.acquired = observed_.acquired;
  if (observed_at_ != Time::min()) pending_.transitions = observed_.transitions + (goes_on ? 0 : 1);
  // Deleted since we saw it: whoever remembers the last holder must not take the next for an earlier one.
  else if (most_transitions_ >= 0)
    pending_.transitions = most_transitions_ + 1;
  return pending_;
}

void Lease::written(std::string resource_version) {
  observed_ = pending_;
  most_transitions_ = std::max(most_transitions_, observed_.transitions);
  observed_at_ = renewed_ = begun_;
  resource_version_ = std::move(resource_version);
  is_ours_ = true;
  tried_at_once_ = false;
}

LeaseRecord Lease::released(Time now) const {
  LeaseRecord free = observed_;
  free.holder.clear();
  free.duration_seconds = 1;
  free.acquired = free.renewed = now;
  return free;
}

}  // namespace evenkeel::kubernetes
