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
  if (!workload.queued && now >= workload.due - interval_of(workload.spec) / 4) {
    workload.queued = true;
    ready_.push_back(workload.id.slot);
  }
}

// What a look says of scalings that were not heard of.
void Autoscaler::settle_asked(Workload& workload, const ServiceReport& report, Time now) {
  std::erase_if(workload.doubtful,
                [&](const Asked& asked) { return now - asked.at > kDoubtedFor * options_.lost_after; });
  if (!workload.asked) {
    const auto done =
        std::find_if(workload.doubtful.begin(), workload.doubtful.end(), [&](const Asked& asked) {
          return report.measured > asked.at && asked.from == workload.set_to && asked.to == report.wanted;
        });
    if (done == workload.doubtful.end()) return;
    note_change(workload.spec.behaviour, done->from, done->to, done->at, workload.memory);
    set_to(workload, *done);
    workload.doubtful.erase(done);
    return;
  }
  if (report.measured <= workload.asked->at) return;
  if (report.wanted == workload.asked->to)
    confirm(workload);
  else if (report.wanted != workload.asked->from || now - workload.asked->at > options_.lost_after)
    give_up(workload);  // somebody else was quicker, or it was lost
}

void Autoscaler::hear_of(Workload& workload, std::int32_t replicas, Time now) {
  if (workload.asked && workload.asked->to == replicas) {
    confirm(workload);
    workload.set_seen = now;
    return;
  }
  // It was done, though a look had shown something else meanwhile: what it is set to, looks say.
  const auto done = std::find_if(workload.doubtful.begin(), workload.doubtful.end(),
                                 [&](const Asked& asked) { return asked.to == replicas; });
  if (done == workload.doubtful.end()) return;
  note_change(workload.spec.behaviour, done->from, done->to, done->at, workload.memory);
  workload.doubtful.erase(done);
}

void Autoscaler::set_to(Workload& workload, const Asked& done) {
  workload.set_to = done.to;
  workload.slept = done.from > 0 && done.to == 0;
}

void Autoscaler::confirm(Workload& workload) {
  set_to(workload, *workload.asked);
  workload.asked.reset();
}

void Autoscaler::give_up(Workload& workload) {
  const Asked lost = *workload.asked;
  workload.asked.reset();
  forget_change(lost.from, lost.to, lost.at, workload.memory);
  workload.doubtful.push_back(lost);
}

// Conflicts, refusals and answers that never came look alike: whether it was done after all, the next look
// says.
void Autoscaler::refuse(Workload& workload, Time now) {
  if (workload.asked) give_up(workload);
  workload.look_after = now;
  set_due(workload, now);
}

void Autoscaler::begin_anew(Workload& workload, Time now) {
  workload.memory = {};
  workload.asked.reset();
  workload.doubtful.clear();
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
