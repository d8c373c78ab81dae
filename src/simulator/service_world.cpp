#include "simulator/service_world.h"

#include <algorithm>

#include "base/check.h"

namespace evenkeel::simulator {

ServiceWorld::ServiceWorld(const ServiceWorldPlan& plan, const Random& random, bool keep_series)
    : plan_(plan), failures_(random.fork("failures")), room_(plan.nodes), measures_(plan, keep_series) {
  EVENKEEL_CHECK(!plan.services.empty() && plan.rates != nullptr);
  const double bound = to_seconds(plan.level.bound);
  flow_ = plan.exact ? make_exact_flow(bound, random.fork("requests")) : make_fluid_flow(bound);
  for (std::size_t i = 0; i < plan.services.size(); ++i) {
    const Random own = random.fork("service").fork(i);
    services_.push_back(std::make_unique<RunningService>(plan.services[i], plan.exact, own.fork("replicas")));
    telemetry_.emplace_back(plan, own);
  }
}

void ServiceWorld::begin() {
  began_ = true;
  for (std::uint32_t i = 0; i < services_.size(); ++i) {
    services_[i]->replicas.begin(now_, room_);
    telemetry_[i].read(*services_[i], now_);
    gathered_.emplace_back(ScalerSet{{i, 1}, services_[i]->plan.scaler});
  }
  look();
}

std::optional<std::span<const ScalingEvent>> ServiceWorld::wait_for_events(Time deadline) {
  if (!began_) begin();
  if (gathered_.empty()) {
    const Time end = Time{} + plan_.length;
    if (now_ >= end) return std::nullopt;
    const Time look_at = next_look();
    advance(std::min({std::max(deadline, now_), look_at, end}));
    if (now_ == look_at) look();
  }
  lent_ = std::move(gathered_);
  gathered_.clear();
  return std::span<const ScalingEvent>(lent_);
}

Time ServiceWorld::next_look() const {
  Time next = Time::max();
  for (const auto& service : services_) {
    const Duration every = service->plan.scaler.interval;
    next = std::min(next, Time{} + every * (now_.time_since_epoch() / every + 1));
  }
  return next;
}

void ServiceWorld::look() {
  for (std::uint32_t i = 0; i < services_.size(); ++i) {
    if (now_.time_since_epoch() % services_[i]->plan.scaler.interval != Duration{}) continue;
    if (room_.limited()) gathered_.emplace_back(RoomSeen{{i, 1}, room_.fits(services_[i]->plan)});
    if (auto report = telemetry_[i].report(*services_[i], now_))
      gathered_.emplace_back(ServiceReported{{i, 1}, *std::move(report)});
    else
      gathered_.emplace_back(ServiceUnseen{{i, 1}, "nobody answered"});
  }
}

void ServiceWorld::advance(Time to) {
  while (now_ < to) {
    // Steps end where the clock's own end, so that readings fall on whole ones whatever the deadlines are.
    const Time whole = Time{} + plan_.step * (now_.time_since_epoch() / plan_.step + 1);
    const Time next = std::min(to, whole);
    const double seconds = to_seconds(next - now_);
    const Duration middle = now_.time_since_epoch() + (next - now_) / 2;
    for (const auto& service : services_)
      if (service->plan.rates) service->entering = service->plan.rates->at(middle);
    flow_->step(services_, now_, seconds, plan_.rates->at(middle), plan_.rates->work_at(middle));
    now_ = next;
    measures_.step(services_, now_, seconds);
    for (std::size_t i = 0; i < services_.size(); ++i) {
      services_[i]->replicas.advance(now_, room_);
      telemetry_[i].read(*services_[i], now_);
    }
  }
}

void ServiceWorld::execute(const ScalingAction& action) {
  if (const auto* wanted = std::get_if<ScaleWorkload>(&action)) scale(*wanted);
}

void ServiceWorld::scale(const ScaleWorkload& action) {
  EVENKEEL_CHECK(action.scaler.slot < services_.size());
  ServiceReplicas& replicas = services_[action.scaler.slot]->replicas;
  if (action.from != replicas.wanted()) {
    gathered_.emplace_back(ScaleFailed{action.scaler, "it was scaled by somebody else meanwhile"});
  } else if (plan_.scale_failures > 0 && failures_.chance(plan_.scale_failures)) {
    gathered_.emplace_back(ScaleFailed{action.scaler, "the server refused"});
  } else {
    measures_.scaled(action.from, action.to, now_);
    replicas.scale(action.to, action.leave_first, now_, room_);
    gathered_.emplace_back(Scaled{action.scaler, action.to});
  }
}

}  // namespace evenkeel::simulator
