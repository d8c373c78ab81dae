#include "simulator/service_measures.h"

#include <algorithm>

namespace evenkeel::simulator {
namespace {

double lost_of(const RunningServices& services) {
  double lost = 0;
  for (const auto& service : services) lost += service->replicas.lost();
  return lost;
}

// Differences of large sums may end a hair beside zero.
double share(double part, double whole) {
  constexpr double kNothing = 1e-12;
  return whole > 0 && part > kNothing * whole ? part / whole : 0;
}

}  // namespace

void ServiceMeasures::step(const RunningServices& services, Time now, double seconds) {
  if (now.time_since_epoch() <= plan_.measured_from) {
    first_ = window_ = services.front()->counters;
    first_lost_ = window_lost_ = lost_of(services);
    return;
  }
  by_service_.resize(services.size());
  double replicas = 0, load = 0, ready = 0;
  for (std::size_t i = 0; i < services.size(); ++i) {
    const ServiceReplicas& pods = services[i]->replicas;
    const double own = pods.count(Replica::State::ready) + pods.count(Replica::State::starting);
    replicas += own;
    by_service_[i] += own * seconds;
    pending_seconds_ += pods.count(Replica::State::pending) * seconds;
    load += services[i]->load * pods.count(Replica::State::ready);
    ready += pods.count(Replica::State::ready);
  }
  seconds_ += seconds;
  window_seconds_ += seconds;
  replica_seconds_ += replicas * seconds;
  most_ = std::max(most_, replicas);
  load_seconds_ += share(load, ready) * seconds;
  last_ = services.front()->counters;
  last_lost_ = lost_of(services);
  if (window_seconds_ + 1e-9 >= to_seconds(plan_.level_window)) close_window(services, now);
}

void ServiceMeasures::close_window(const RunningServices& services, Time now) {
  const double lost = last_.refused - window_.refused + last_lost_ - window_lost_;
  const double answered = last_.answered - window_.answered;
  const double late = last_.late - window_.late + lost;
  if (late > (1 - plan_.level.percentile) * (answered + lost)) violated_seconds_ += window_seconds_;
  if (keep_series_) {
    ServicePoint point{
        to_seconds(now.time_since_epoch()), (last_.arrived - window_.arrived) / window_seconds_,
        last_.responses.since(window_.responses).quantile(plan_.level.percentile), services.front()->load};
    for (const auto& service : services) {
      point.wanted += service->replicas.wanted();
      point.ready += service->replicas.count(Replica::State::ready);
    }
    series_.push_back(point);
  }
  window_ = last_;
  window_lost_ = last_lost_;
  window_seconds_ = 0;
}

void ServiceMeasures::scaled(std::int32_t from, std::int32_t to, Time now) {
  if (now.time_since_epoch() < plan_.measured_from) return;
  if (to > from) ++ups_;
  if (to < from) ++downs_;
}

ServiceMeasures::Summary ServiceMeasures::summarise() const {
  Summary s;
  s.seconds = seconds_;
  s.replicas = share(replica_seconds_, seconds_);
  s.replicas_most = most_;
  s.cpu_utilization = share(load_seconds_, seconds_);
  s.violation = share(violated_seconds_, seconds_);
  s.requests = last_.arrived - first_.arrived;
  s.late = share(last_.late - first_.late, s.requests);
  s.unserved = share(last_.refused - first_.refused + last_lost_ - first_lost_, s.requests);
  s.response_s = last_.responses.since(first_.responses).quantile(plan_.level.percentile);
  s.pending = share(pending_seconds_, seconds_);
  s.ups = ups_;
  s.downs = downs_;
  s.scalings = ups_ + downs_;
  for (const double own : by_service_) s.by_service.push_back(share(own, seconds_));
  return s;
}

}  // namespace evenkeel::simulator
