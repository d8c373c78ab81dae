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
            [&](const Scaled& e) {
              with(e.scaler, [&](Workload& w) {
                if (w.asked && w.asked->to == e.replicas) {
                  confirm(w, *w.asked);
                  w.set_seen = now;
                }
              });
            },
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
  deadlines_.erase({workload->due + interval_of(workload->spec), scaler.slot});
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
  if (!workload.queued && now >= workload.due - interval_of(workload.spec) / 4) {
    workload.queued = true;
    ready_.push_back(workload.id.slot);
  }
}

// What a look says of a scaling that was not heard of.
void Autoscaler::settle_asked(Workload& workload, const ServiceReport& report, Time now) {
  if (workload.doubtful && report.measured > workload.doubtful->at) {
    if (report.wanted == workload.doubtful->to && workload.set_to != report.wanted && !workload.asked)
      confirm(workload, *workload.doubtful);
    else if (now - workload.doubtful->at > 4 * options_.lost_after)
      workload.doubtful.reset();
  }
  if (!workload.asked || report.measured <= workload.asked->at) return;
  if (report.wanted == workload.asked->to)
    confirm(workload, *workload.asked);
  else if (report.wanted != workload.asked->from || now - workload.asked->at > options_.lost_after)
    give_up(workload);  // somebody else was quicker, or it was lost
}

void Autoscaler::confirm(Workload& workload, const Asked& done) {
  if (!done.noted) note_change(workload.spec.behaviour, done.from, done.to, done.at, workload.memory);
  workload.set_to = done.to;
  workload.slept = done.from > 0 && done.to == 0;
  if (workload.doubtful && &done == &*workload.doubtful)
    workload.doubtful.reset();
  else
    workload.asked.reset();
}

void Autoscaler::give_up(Workload& workload) {
  Asked lost = *workload.asked;
  workload.asked.reset();
  forget_change(lost.from, lost.to, lost.at, workload.memory);
  lost.noted = false;
  workload.doubtful = lost;
}

// Conflicts, refusals and answers that never came look alike: whether it was done after all, the next look
// says.
void Autoscaler::refuse(Workload& workload, Time now) {
  if (workload.asked) give_up(workload);
  workload.look_after = now;
  deadlines_.erase({workload.due + interval_of(workload.spec), workload.id.slot});
  workload.due = now;
  deadlines_.insert({workload.due + interval_of(workload.spec), workload.id.slot});
}

void Autoscaler::begin_anew(Workload& workload, Time now) {
  workload.memory = {};
  workload.asked.reset();
  workload.doubtful.reset();
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
  deadlines_.erase({workload.due + interval, workload.id.slot});
  const Duration phase(
      static_cast<Duration::rep>(spread(workload.spec) % static_cast<std::uint64_t>(interval.count())));
  Duration into = (after.time_since_epoch() - phase) % interval;
  if (into < Duration{}) into += interval;
  workload.due = after - into + interval;
  deadlines_.insert({workload.due + interval, workload.id.slot});
}

}  // namespace evenkeel::autoscaling
