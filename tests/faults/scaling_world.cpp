#include "scaling_world.h"

#include <algorithm>
#include <cmath>

namespace evenkeel {

using namespace std::chrono_literals;
using autoscaling::Recommendation;
using autoscaling::ScalingRequest;
using Mode = ScalerSpec::Mode;

ScalingFaults::ScalingFaults(std::uint64_t seed) : random_(seed) {
  const auto count = static_cast<std::uint32_t>(1 + random_.below(3));
  for (std::uint32_t slot = 0; slot < count; ++slot) {
    Workload workload{{slot, 1}, make_spec(slot)};
    workload.replicas = static_cast<std::int32_t>(1 + random_.below(12));
    workloads_.push_back(std::move(workload));
  }
  for (std::size_t i = 0; i < processes_.size(); ++i) restart(i);
}

std::optional<ScalingBehaviour> ScalingFaults::make_behaviour() {
  if (random_.chance(0.3)) return std::nullopt;
  ScalingBehaviour behaviour;
  for (ScalingRules* rules : {&behaviour.up, &behaviour.down}) {
    for (std::uint64_t n = random_.below(3); n > 0; --n)
      rules->limits.push_back(
          {random_.chance(0.5) ? ScalingRules::Limit::Kind::pods : ScalingRules::Limit::Kind::percent,
           static_cast<std::int32_t>(1 + random_.below(60)), std::chrono::seconds(10 + random_.below(120))});
    if (random_.chance(0.3))
      rules->select = random_.chance(0.7) ? ScalingRules::Select::least : ScalingRules::Select::disabled;
    if (random_.chance(0.6)) rules->stabilisation = std::chrono::seconds(random_.below(120));
  }
  return behaviour;
}

ScalerSpec ScalingFaults::make_spec(std::uint32_t slot) {
  ScalerSpec spec;
  spec.name_space = "shop";
  spec.name = "service-" + std::to_string(slot);
  spec.target = {"apps/v1", "Deployment", spec.name};
  spec.min_replicas = static_cast<std::int32_t>(random_.below(4));
  spec.max_replicas = spec.min_replicas + 1 + static_cast<std::int32_t>(random_.below(20));
  spec.mode = random_.chance(0.75) ? Mode::automatic : random_.chance(0.5) ? Mode::preview : Mode::paused;
  spec.policy = random_.chance(0.8) ? "unreliable" : "hpa";
  spec.behaviour = make_behaviour();
  spec.interval = std::chrono::seconds(3 + random_.below(15));
  spec.stale_after = 30s;
  return spec;
}

ServiceReport ScalingFaults::make_report(const Workload& workload) {
  ServiceReport report{.measured = now_, .wanted = workload.replicas, .there = workload.replicas};
  const auto value = [&](double truth) {
    if (happens(0.05)) return std::numeric_limits<double>::quiet_NaN();
    if (happens(0.03)) return std::numeric_limits<double>::infinity();
    if (happens(0.03)) return -truth;  // a counter that was set back
    if (happens(0.03)) return 1e300;
    return truth;
  };
  const auto measured = [&] {
    return happens(0.1) ? now_ - std::chrono::seconds(random_.below(300)) : happens(0.02) ? now_ + 1h : now_;
  };
  const double load = random_.between(0.1, 1.5);
  for (std::int32_t i = 0; i < workload.replicas; ++i) {
    ReplicaReport replica{.name = "p" + std::to_string(i),
                          .ready = !happens(0.1),
                          .started = now_ - 1h,
                          .ready_changed = now_ - 50min};
    if (happens(0.05)) replica.phase = ReplicaReport::Phase::pending;
    replica.samples.emplace_back();
    if (!happens(0.1)) replica.samples[0] = {value(0.5 * load), 0.5, measured(), 15s};
    report.replicas.push_back(std::move(replica));
  }
  if (!happens(0.2)) report.requests_per_s = {value(100), measured()};
  return report;
}

Recommendation ScalingFaults::answer(const ScalingRequest& request) {
  if (!faults_) return {.replicas = settled_answer_};
  switch (random_.below(10)) {
    case 0:
      return {.unable = "it is lost in thought"};
    case 1:
      return {.replicas = std::numeric_limits<std::int32_t>::min()};  // what a NaN becomes
    case 2:
      return {.replicas = std::numeric_limits<std::int32_t>::max()};
    case 3: {
      Recommendation explores{.replicas = 0};
      explores.unexplored = request.wanted;
      return explores;
    }
    default:
      return {.replicas = static_cast<std::int32_t>(random_.below(30))};
  }
}

void ScalingFaults::run(Duration with_faults) {
  const Time until = now_ + with_faults;
  while (now_ < until) step();
}

void ScalingFaults::settle() {
  faults_ = false;
  for (Workload& workload : workloads_) {
    // Whatever it was, somebody wants it to run now, quickly and by itself.
    workload.rival.clear();
    workload.replicas = std::max(1, workload.replicas);
    workload.spec.mode = Mode::automatic;
    workload.spec.policy = "unreliable";
    workload.spec.behaviour.reset();
    workload.spec.min_replicas = std::max(1, workload.spec.min_replicas);
    workload.spec.max_replicas = std::max(workload.spec.max_replicas, workload.spec.min_replicas);
    tell(ScalerSet{workload.id, workload.spec});
    tell(RivalSeen{workload.id, ""});
    tell(RoomSeen{workload.id, std::nullopt});
  }
  settled_answer_ = static_cast<std::int32_t>(1 + random_.below(25));
  for (int seconds = 0; seconds < 600; ++seconds) step();
  for (const Workload& workload : workloads_) {
    const std::int32_t expected =
        std::clamp(settled_answer_, workload.spec.min_replicas, workload.spec.max_replicas);
    if (workload.replicas != expected)
      wrongs_.push_back(workload.spec.name + " was left at " + std::to_string(workload.replicas) + ", not " +
                        std::to_string(expected));
    if (processes_[holder_].autoscaler->wanted_of(workload.id) != workload.replicas)
      wrongs_.push_back(workload.spec.name + " is thought to be set to something else");
  }
}

void ScalingFaults::step() {
  now_ += 1s;
  land_writes();
  disturb();
  report();
  lease();
  for (std::size_t i = 0; i < processes_.size(); ++i) decide(i);
}

// The API server: done if it still says what the writer saw, whoever else wrote meanwhile.
void ScalingFaults::land_writes() {
  using Fate = Write::Fate;
  for (Write& write : writes_) {
    if (!write.landed && write.lands <= now_) {
      write.landed = true;
      Workload* const workload = find(write.action.scaler);
      write.conflict = !workload || workload->replicas != write.action.from;
      if (!write.conflict && write.fate != Fate::refused && write.fate != Fate::lost) {
        workload->replicas = write.action.to;
        ++done_;
        if (Process& by = processes_[write.process]; by.life == write.life)
          by.deeds[write.action.scaler].done.push_back({write.issued, write.action.from, write.action.to});
      }
    }
    if (write.heard || write.told > now_) continue;
    write.heard = true;
    if (processes_[write.process].life != write.life || write.fate == Fate::unanswered ||
        write.fate == Fate::lost)
      continue;
    if (write.fate == Fate::done && !write.conflict)
      tell(write.process, Scaled{write.action.scaler, write.action.to});
    else
      tell(write.process, ScaleFailed{write.action.scaler, "it failed, or seemed to"});
  }
  std::erase_if(writes_, [](const Write& write) { return write.landed && write.heard; });
  for (std::size_t i = 0; i < late_.size(); ++i)
    if (late_[i].at <= now_ && processes_[late_[i].process].life == late_[i].life)
      tell(late_[i].process, late_[i].event);
  std::erase_if(late_, [&](const Late& late) { return late.at <= now_; });
}

void ScalingFaults::disturb() {
  if (happens(0.004)) restart(random_.below(2));
  if (happens(0.005))
    processes_[random_.below(2)].frozen_until = now_ + std::chrono::seconds(random_.below(60));
  for (Workload& workload : workloads_) {
    if (happens(0.005)) workload.replicas = static_cast<std::int32_t>(random_.below(25));
    if (happens(0.005)) {
      workload.rival = workload.rival.empty() ? "HorizontalPodAutoscaler shop/other" : "";
      tell(RivalSeen{workload.id, workload.rival});
    }
    if (happens(0.01)) tell(RoomSeen{workload.id, static_cast<std::int32_t>(random_.below(10))});
    if (happens(0.004)) {
      workload.spec = make_spec(workload.id.slot);
      for (Process& process : processes_) process.deeds[workload.id].longest_window = Duration{};
      tell(ScalerSet{workload.id, workload.spec});
    }
    if (happens(0.002)) {  // deleted, and made anew under the same name
      tell(ScalerGone{workload.id});
      ++workload.id.generation;
      workload.rival.clear();
      tell(ScalerSet{workload.id, workload.spec});
    }
  }
}

void ScalingFaults::report() {
  for (const Workload& workload : workloads_)
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      if (!random_.chance(0.3)) continue;
      if (happens(0.1)) {
        tell(i, ServiceUnseen{workload.id, "nobody answers"});
      } else {
        const Duration delay = happens(0.2) ? std::chrono::seconds(random_.below(8)) : 0s;
        late_.push_back(
            {now_ + delay, i, processes_[i].life, ServiceReported{workload.id, make_report(workload)}});
      }
    }
  for (std::size_t i = 0; i < late_.size(); ++i)
    if (late_[i].at <= now_ && processes_[late_[i].process].life == late_[i].life)
      tell(late_[i].process, late_[i].event);
  std::erase_if(late_, [&](const Late& late) { return late.at <= now_; });
}

void ScalingFaults::lease() {
  constexpr Duration kLease = 10s;
  if (now_ >= lease_until_ && processes_[holder_].frozen_until > now_) holder_ = 1 - holder_;
  Process& process = processes_[holder_];
  if (process.frozen_until > now_ || happens(0.1)) return;
  lease_until_ = now_ + kLease;
  process.lease_until = lease_until_;
  process.autoscaler->hold_lease(lease_until_, now_);
}

void ScalingFaults::decide(std::size_t which) {
  Process& process = processes_[which];
  if (process.frozen_until > now_) return;
  while (const std::optional<ScalingRequest> request = process.autoscaler->next(now_)) {
    Deeds& deeds = process.deeds[request->scaler];
    if (!deeds.first_look) {
      deeds.first_look = now_;
      deeds.found = request->wanted;
    }
    if (happens(0.002)) return restart(which);
    const std::vector<ScalingAction> actions = process.autoscaler->commit(*request, answer(*request));
    if (happens(0.002)) return restart(which);
    for (const ScalingAction& action : actions)
      if (const auto* scale = std::get_if<ScaleWorkload>(&action)) {
        judge(which, *scale);
        send(which, *scale);
      }
  }
}

void ScalingFaults::send(std::size_t process, const ScaleWorkload& action) {
  using Fate = Write::Fate;
  ++issued_;
  Write write{.process = process, .life = processes_[process].life, .action = action, .issued = now_};
  write.lands = now_ + std::chrono::seconds(happens(0.2) ? random_.below(6) : 0) + 1s;
  write.told = write.lands + std::chrono::seconds(happens(0.2) ? random_.below(40) : 0);
  if (happens(0.1)) write.fate = Fate::unanswered;
  if (happens(0.1)) write.fate = Fate::refused;
  if (happens(0.05)) write.fate = Fate::lost;
  if (happens(0.1)) {
    write.fate = Fate::told_failed;  // the client gave up; the server may do it later
    write.told = now_ + std::chrono::seconds(1 + random_.below(10));
  }
  writes_.push_back(std::move(write));
}

void ScalingFaults::restart(std::size_t which) {
  Process& process = processes_[which];
  process = {std::make_unique<Autoscaler>(), process.life + 1, {}, {}, {}};
  process.autoscaler->hold_lease(now_, now_);  // none yet
  for (const Workload& workload : workloads_) {
    tell(which, ScalerSet{workload.id, workload.spec});
    if (!workload.rival.empty()) tell(which, RivalSeen{workload.id, workload.rival});
  }
}

void ScalingFaults::tell(const ScalingEvent& event) {
  for (std::size_t i = 0; i < processes_.size(); ++i) tell(i, event);
}

void ScalingFaults::tell(std::size_t process, const ScalingEvent& event) {
  processes_[process].autoscaler->observe(event, now_);
}

ScalingFaults::Workload* ScalingFaults::find(ScalerId id) {
  const auto found =
      std::find_if(workloads_.begin(), workloads_.end(), [&](const Workload& w) { return w.id == id; });
  return found == workloads_.end() ? nullptr : &*found;
}

}  // namespace evenkeel
