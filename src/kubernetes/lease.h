#pragma once
#include <optional>
#include <string>

#include "base/time.h"
#include "kubernetes/writes.h"

namespace evenkeel::kubernetes {

// Who of several processes acts, by a Lease all of them watch, as client-go's leader election has it. Clocks
// of different machines are never compared: a lease is over when its record has not changed for its duration
// by our own clock. Knows no network: told what was read and written, it says what to ask for next.
//
//            ┌── held by another, changed within its duration ──▶ nothing, try later
//   read ────┼── free, expired or ours ─────────────────────────▶ replace ── done ──▶ leads
//     ▲      └── there is none ─────────────────────────────────▶ create ─── done ──▶ leads
//     └─────────────────────── refused (somebody was quicker) ──────┘
//   A leader replaces right away, and reads only when that was refused. It leads until `renew_deadline` after
//   the last renewal was begun, which is before anybody else can take the lease.
class Lease {
 public:
  struct Options {
    std::string identity;
    Duration duration = std::chrono::seconds(15), renew_deadline = std::chrono::seconds(10),
             retry_period = std::chrono::seconds(2);
  };
  enum class Ask { nothing, read, create, replace };

  explicit Lease(Options options) : options_(std::move(options)) {}

  // Times here are of a clock that nobody sets.
  Ask begin(Time now);  // a try begins
  Ask found(const LeaseRecord& record, std::string resource_version, Time now);
  Ask found_none();
  Ask refused();  // what `replace` or `create` was answered; also when there was no answer
  void written(std::string resource_version);

  // What to write now, by the clock on the wall: it is for people, nobody compares it.
  LeaseRecord record(Time now);
  // What to write so that the next one need not wait.
  LeaseRecord released(Time now) const;
  const std::string& resource_version() const { return resource_version_; }

  bool leads(Time now) const { return is_holder() && now < renewed_ + options_.renew_deadline; }
  Time leads_until() const { return is_holder() ? renewed_ + options_.renew_deadline : Time::min(); }
  const std::string& holder() const { return observed_.holder; }  // as last seen; empty: nobody
  // How often it has changed hands, as last seen. Rises with every holder, also where somebody deletes it
  // meanwhile and we have seen it before.
  std::int32_t transitions() const { return observed_.transitions; }
  // This holder is known not to live any more: its lease has run out, whatever its duration.
  void presume_dead(std::string holder) { dead_ = std::move(holder); }

 private:
  bool is_holder() const { return is_ours_; }

  Options options_;
  LeaseRecord observed_;
  std::string dead_;  // who surely renews no more
  std::int32_t most_transitions_ = -1;
  Time observed_at_ = Time::min();  // when it last changed, by our clock
  std::string resource_version_;
  bool is_ours_ = false;
  bool tried_at_once_ = false;  // this try began with replacing
  LeaseRecord pending_;         // asked to be written
  Time renewed_ = Time::min(), begun_ = Time::min();
};

}  // namespace evenkeel::kubernetes
