// How the autoscaler takes facts in: what it knows of each workload, and when it is due.
#include <algorithm>

#include "autoscaling/autoscaler.h"
#include "base/match.h"

namespace evenkeel::autoscaling {
namespace {

// FNV-1a: where in its interval a workload's turn comes. The same after a restart and on every machine.
std::uint64_t spread(const ScalerSpec& spec) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const std::string* part : {&spec.name_space, &spec.name})
    for (const char letter : *part + "/")
      hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211ULL;
  return hash;
}

// A request that nobody answered may still be done, but not for ever.
constexpr int kDoubtedFor = 4;

Duration interval_of(const ScalerSpec& spec) {
  return std::max<Duration>(spec.interval, std::chrono::milliseconds{10});
}

}  // namespace

void Autoscaler::observe(const ScalingEvent& event, Time now) {
  const auto with = [&](ScalerId scaler, const auto& change) {
    if (Workload* workload = find(scaler)) change(*workload);
  };
  std::visit(
      Match{[&](const ScalerSet& e) { set(e, now); }, [&](const ScalerGone& e) { drop(e.scaler); },
            [&](const ServiceReported& e) { with(e.scaler, [&](Workload& w) { take(w, e.report, now); }); },
            [](const ServiceUnseen&) {},  // what is known grows older by itself
            [&](const Scaled& e) { with(e.scaler, [&](Workload& w) { hear_of(w, e.replicas, now); }); },
            [&](const ScaleFailed& e) { with(e.scaler, [&](Workload& w) { refuse(w, now); }); },
            [&](const RivalSeen& e) { with(e.scaler, [&](Workload& w) { w.rival = e.who; }); },
            [&](const RoomSeen& e) {
              with(e.scaler, [&](Workload& w) {
                w.room = e.replicas;
                w.room_seen = now;
              });
            }},
      event);
}

void Autoscaler::set(const ScalerSet& event, Time now) {
  const std::size_t slot = event.scaler.slot;
  if (slot >= workloads_.size()) workloads_.resize(slot + 1);
  Workload& workload = workloads_[slot];
  if (workload.there && workload.id != event.scaler) drop(workload.id);
  const bool is_new = !workload.there;
  if (is_new) {
    workload = {.id = event.scaler, .there = true, .spec = event.spec, .slept = event.slept};
    ++known_;
    schedule(workload, now);
    return;
  }
  if (!(workload.spec.target == event.spec.target)) {
    // Another workload under the same name: nothing that is known is of it.
    workload.past = {};
    workload.report.reset();
    workload.rival.clear();
    workload.room.reset();
    workload.slept = event.slept;
    begin_anew(workload, now);
    workload.memory = {};
    workload.doubtful.clear();
  } else if (workload.spec.metrics != event.spec.metrics) {
    workload.report.reset();  // its samples lie in the order of the metrics as they were
  }
  const bool other_times = interval_of(workload.spec) != interval_of(event.spec);
  workload.spec = event.spec;
  if (other_times) schedule(workload, now);
}

void Autoscaler::drop(ScalerId scaler) {
  Workload* workload = find(scaler);
  if (!workload) return;
  deadlines_.erase({workload->deadline, scaler.slot});
  *workload = {};
  --known_;
}

void Autoscaler::take(Workload& workload, const ServiceReport& report, Time now) {
  if (report.measured > now + workload.spec.stale_after) return;  // would hide every later look
  if (workload.report && report.measured < workload.report->measured) return;
  settle_asked(workload, report, now);
  if (report.measured >= workload.set_seen) {
    workload.set_to = report.wanted;
    workload.set_seen = report.measured;
  }
  if (workload.report && workload.report->measured < report.measured)
    workload.past.add(*std::move(workload.report), options_.past);
  workload.report = report;
  drop_nonsense(*workload.report, now);
  // A little early counts, lest a look that jitters leaves out a turn; twice within an interval does not.
  const Duration early = interval_of(workload.spec) / 4;
  const bool rested = workload.answered == Time::min() || now - workload.answered >= 3 * early;
  if (!workload.queued && rested && now >= workload.due - early) {
    workload.queued = true;
    workload.answered = now;
    ready_.push_back(workload.id.slot);
  }
}

// What a look says of scalings that were not heard of, or not in earnest.
void Autoscaler::settle_asked(Workload& workload, const ServiceReport& report, Time now) {
  if (workload.asked && report.measured > workload.asked->at) {
    if (report.wanted == workload.asked->to)
      confirm(workload);
    else if (report.wanted != workload.asked->from || now - workload.asked->at > options_.lost_after)
      give_up(workload);  // somebody else was quicker, or it was lost
    return;
  }
  std::erase_if(workload.doubtful,
                [&](const Asked& doubted) { return now - doubted.at > kDoubtedFor * options_.lost_after; });
  // The latest that fits: who asked twice for the same most likely got it the second time.
  for (std::size_t i = workload.doubtful.size(); i-- > 0;) {
    Asked& doubted = workload.doubtful[i];
    if (report.measured <= doubted.at) continue;
    if (report.wanted == doubted.to && workload.set_to == doubted.from) {
      count(workload, doubted);
      set_to(workload, doubted);
      workload.doubtful.erase(workload.doubtful.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
    if (doubted.counted && doubted.refused && report.measured > *doubted.refused &&
        report.wanted == doubted.from) {
      forget_change(doubted.from, doubted.to, doubted.at, workload.memory);
      doubted.counted = false;  // unless it is done late
    }
  }
}

void Autoscaler::hear_of(Workload& workload, std::int32_t replicas, Time now) {
  if (workload.asked && workload.asked->to == replicas) {
    confirm(workload);
    workload.set_seen = now;
    return;
  }
  // It was done, though a look had shown something else meanwhile: what it is set to, looks say.
  const auto done = std::find_if(workload.doubtful.begin(), workload.doubtful.end(),
                                 [&](const Asked& doubted) { return doubted.to == replicas; });
  if (done == workload.doubtful.end()) return;
  count(workload, *done);
  workload.doubtful.erase(done);
}

// Was done for certain, doubted or not.
void Autoscaler::count(Workload& workload, const Asked& done) {
  if (!done.ruled) return;
  if (done.counted) forget_change(done.from, done.to, done.at, workload.memory);
  note_change(workload.spec.behaviour, done.from, done.to, done.at, workload.memory);
}

void Autoscaler::set_to(Workload& workload, const Asked& done) {
  workload.set_to = done.to;
  workload.slept = done.from > 0 && done.to == 0;
}

void Autoscaler::confirm(Workload& workload) {
  set_to(workload, *workload.asked);
  workload.asked.reset();
}

void Autoscaler::give_up(Workload& workload, std::optional<Time> refused) {
  Asked doubted = *workload.asked;
  workload.asked.reset();
  doubt_change(doubted.from, doubted.to, doubted.at, workload.memory);
  doubted.refused = refused;
  workload.doubtful.push_back(doubted);
}

// Conflicts, refusals and answers that never came look alike: whether it was done after all, the next look
// says.
void Autoscaler::refuse(Workload& workload, Time now) {
  if (workload.asked) give_up(workload, now);
  workload.look_after = now;
  workload.answered = Time::min();
  set_due(workload, now);
}

// From what is seen then; what was done stays done.
void Autoscaler::begin_anew(Workload& workload, Time now) {
  if (workload.asked) give_up(workload);
  workload.memory.recommended.clear();
  workload.set_seen = Time::min();
  workload.look_after = now;
}

void Autoscaler::hold_lease(Time until, Time now) {
  if (lease_until_ <= now)
    for (Workload& workload : workloads_)
      if (workload.there) begin_anew(workload, now);
  lease_until_ = until;
}

// The next moment of its own, later than `after`.
void Autoscaler::schedule(Workload& workload, Time after) {
  const Duration interval = interval_of(workload.spec);
  const Duration phase(
      static_cast<Duration::rep>(spread(workload.spec) % static_cast<std::uint64_t>(interval.count())));
  Duration into = (after.time_since_epoch() - phase) % interval;
  if (into < Duration{}) into += interval;
  set_due(workload, after - into + interval);
}

// Where no report comes it is asked about an interval later all the same.
void Autoscaler::set_due(Workload& workload, Time due) {
  deadlines_.erase({workload.deadline, workload.id.slot});
  workload.due = due;
  workload.deadline = due + interval_of(workload.spec);
  deadlines_.insert({workload.deadline, workload.id.slot});
}

}  // namespace evenkeel::autoscaling
