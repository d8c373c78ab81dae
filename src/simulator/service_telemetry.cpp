#include "simulator/service_telemetry.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace evenkeel::simulator {
namespace {

using Kind = ServiceFault::Kind;
using What = ServiceFault::What;

bool due(Time now, Duration every) { return now.time_since_epoch() % every == Duration{}; }

ReplicaReport::Phase phase_of(const Replica& replica) {
  return replica.state == Replica::State::pending ? ReplicaReport::Phase::pending
                                                  : ReplicaReport::Phase::running;
}

}  // namespace

ServiceTelemetry::ServiceTelemetry(const ServiceWorldPlan& plan, const Random& random)
    : plan_(plan), noise_(random.fork("noise")) {}

bool ServiceTelemetry::faulty(Kind kind, What what, Time now, const Replica* pod) const {
  const Duration at = now.time_since_epoch();
  return std::any_of(plan_.faults.begin(), plan_.faults.end(), [&](const ServiceFault& fault) {
    if (fault.kind != kind || at < fault.from || at >= fault.to) return false;
    if (fault.what != What::both && fault.what != what) return false;
    // Always the same pods, as with a kubelet that cannot be reached.
    return pod == nullptr || Random(pod->serial).fork("fault").uniform() < fault.share;
  });
}

void ServiceTelemetry::read(RunningService& service, Time now) {
  if (due(now, plan_.telemetry.cpu_every)) read_cpu(service, now);
  if (due(now, plan_.telemetry.scrape_every) && !faulty(Kind::stale, What::requests, now))
    read_requests(service, now);
}

void ServiceTelemetry::read_cpu(RunningService& service, Time now) {
  const std::size_t kept =
      2 + static_cast<std::size_t>(plan_.telemetry.cpu_delay / plan_.telemetry.cpu_every) + 1;
  const double per_request = service.plan.cpu_per_request;
  for (Replica& replica : service.replicas.all()) {
    if (replica.state == Replica::State::pending || faulty(Kind::stale, What::cpu, now, &replica)) continue;
    double& before = true_cpu_[replica.serial];
    const double used = replica.cpu_s - before;
    before = replica.cpu_s;
    double seen = used;
    if (!plan_.exact && used > 0) {
      // As many requests as Poisson brings, each with a service time of its own.
      const double spread =
          per_request * std::sqrt(used / per_request * (1 + service.plan.times.squared_variation()));
      const double most = service.plan.cpu_limit * to_seconds(plan_.telemetry.cpu_every);
      seen = std::clamp(used + noise_.normal(0, spread), 0.0, std::max(used, most));
    }
    replica.seen_cpu_s += seen;
    std::deque<PodReading>& readings = pods_[replica.serial];
    readings.push_back({now, replica.seen_cpu_s});
    if (readings.size() > kept) readings.pop_front();
  }
  // Pods that are gone.
  std::erase_if(pods_, [&](const auto& entry) {
    const bool gone = std::none_of(service.replicas.all().begin(), service.replicas.all().end(),
                                   [&](const Replica& replica) { return replica.serial == entry.first; });
    if (gone) true_cpu_.erase(entry.first);
    return gone;
  });
}

void ServiceTelemetry::read_requests(const RunningService& service, Time now) {
  const double arrived = service.counters.arrived - true_arrived_;
  true_arrived_ = service.counters.arrived;
  seen_arrived_ += plan_.exact ? arrived : draw_count(arrived, noise_);
  readings_.push_back({now, seen_arrived_, service.held(now), service.counters.responses});
  const Duration kept = plan_.telemetry.window + plan_.telemetry.scrape_delay + plan_.telemetry.scrape_every;
  while (readings_.size() > 2 && readings_[1].at < now - kept) readings_.pop_front();
}

std::optional<ReplicaReport::Sample> ServiceTelemetry::cpu_of(const Replica& replica, double request,
                                                              Time now) const {
  const auto found = pods_.find(replica.serial);
  if (found == pods_.end() || faulty(Kind::missing, What::cpu, now, &replica)) return std::nullopt;
  const std::deque<PodReading>& readings = found->second;
  for (std::size_t i = readings.size(); i-- > 1;) {
    if (readings[i].at + plan_.telemetry.cpu_delay > now) continue;
    const Duration window = readings[i].at - readings[i - 1].at;
    ReplicaReport::Sample sample{(readings[i].cpu_s - readings[i - 1].cpu_s) / to_seconds(window), request,
                                 readings[i].at, window};
    if (faulty(Kind::not_a_number, What::cpu, now, &replica))
      sample.value = std::numeric_limits<double>::quiet_NaN();
    return sample;
  }
  return std::nullopt;
}

std::optional<ServiceReport> ServiceTelemetry::report(const RunningService& service, Time now) const {
  if (faulty(Kind::unseen, What::both, now)) return std::nullopt;
  ServiceReport report;
  report.measured = now;
  report.wanted = service.replicas.wanted();
  for (const Replica& replica : service.replicas.all()) {
    const bool leaves = replica.state == Replica::State::leaving;
    ReplicaReport seen;
    seen.name = replica.name;
    seen.phase = phase_of(replica);
    seen.leaves = leaves;
    seen.ready = replica.state == Replica::State::ready;
    if (replica.state != Replica::State::pending) seen.started = replica.started;
    seen.ready_changed = replica.changed;
    report.replicas.push_back(std::move(seen));
    if (!leaves) ++report.there;
  }
  add_requests(report, service, now);
  add_metrics(report, service, now);
  return report;
}

void ServiceTelemetry::add_requests(ServiceReport& report, const RunningService& service, Time now) const {
  if (faulty(Kind::missing, What::requests, now)) return;
  const auto visible = std::find_if(readings_.rbegin(), readings_.rend(), [&](const Reading& reading) {
    return reading.at + plan_.telemetry.scrape_delay <= now;
  });
  if (visible == readings_.rend()) return;
  report.in_flight = {visible->held, visible->at};
  const auto begin = std::find_if(visible + 1, readings_.rend(), [&](const Reading& reading) {
    return reading.at <= visible->at - plan_.telemetry.window;
  });
  const auto from = begin == readings_.rend() ? readings_.rend() - 1 : begin;
  if (from->at >= visible->at) return;
  const double seconds = to_seconds(visible->at - from->at);
  report.requests_per_s = {(visible->arrived - from->arrived) / seconds, visible->at};
  const double response =
      visible->responses.since(from->responses).quantile(service.plan.scaler.level.percentile);
  if (!std::isnan(response)) report.response_s = {response, visible->at};
  if (!faulty(Kind::not_a_number, What::requests, now)) return;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  report.in_flight->value = report.requests_per_s->value = kNan;
  if (report.response_s) report.response_s->value = kNan;
}

// What the scaler's own metrics say: CPU and memory of each pod, requests per second as any other kind.
void ServiceTelemetry::add_metrics(ServiceReport& report, const RunningService& service, Time now) const {
  static const std::vector<MetricTarget> kUsual(1);
  const auto& metrics = service.plan.scaler.metrics.empty() ? kUsual : service.plan.scaler.metrics;
  const std::int32_t ready = service.replicas.count(Replica::State::ready);
  for (const MetricTarget& metric : metrics) {
    const bool resource = metric.source == MetricTarget::Source::resource ||
                          metric.source == MetricTarget::Source::container_resource;
    std::optional<ServiceReport::Amount> amount;
    if (!resource && metric.source != MetricTarget::Source::pods) amount = report.requests_per_s;
    report.amounts.push_back(amount);
    for (std::size_t i = 0; i < report.replicas.size(); ++i) {
      std::optional<ReplicaReport::Sample> sample;
      const Replica& replica = service.replicas.all()[i];
      if (resource && metric.name == "memory") {
        const auto bytes = static_cast<double>(service.plan.memory.count);
        if (report.replicas[i].started) sample = {bytes, bytes, now, plan_.telemetry.cpu_every};
      } else if (resource) {
        sample = cpu_of(replica, service.plan.cpu_request, now);
      } else if (metric.source == MetricTarget::Source::pods && report.requests_per_s && ready > 0 &&
                 report.replicas[i].ready) {
        sample = {report.requests_per_s->value / ready, 0, report.requests_per_s->measured,
                  plan_.telemetry.window};
      }
      report.replicas[i].samples.push_back(sample);
    }
  }
}

}  // namespace evenkeel::simulator
