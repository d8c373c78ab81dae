#include "autoscaling/encoding.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::autoscaling {
namespace {

bool is_cpu(const MetricTarget& metric) {
  return metric.source == MetricTarget::Source::resource && metric.name == "cpu";
}

std::optional<double> fresh(const std::optional<ServiceReport::Amount>& amount,
                            const ScalingRequest& request) {
  const bool usable = amount && std::isfinite(amount->value) && amount->value >= 0 &&
                      request.now - amount->measured <= request.spec.stale_after;
  return usable ? std::optional(amount->value) : std::nullopt;
}

}  // namespace

std::optional<std::size_t> cpu_sample(const ScalerSpec& spec) {
  if (spec.metrics.empty()) return 0;
  const auto found = std::find_if(spec.metrics.begin(), spec.metrics.end(), is_cpu);
  if (found == spec.metrics.end()) return std::nullopt;
  return static_cast<std::size_t>(found - spec.metrics.begin());
}

ServiceFacts facts_of(const ScalingRequest& request) {
  ServiceFacts facts;
  const std::optional<std::size_t> cpu = cpu_sample(request.spec);
  double cores = 0, requested = 0;
  for (const ReplicaReport& replica : request.report.replicas) {
    const bool counts = !replica.leaves && (replica.phase == ReplicaReport::Phase::running ||
                                            replica.phase == ReplicaReport::Phase::pending);
    if (!counts) continue;
    ++(replica.ready ? facts.ready : facts.starting);
    if (!replica.ready || !cpu || *cpu >= replica.samples.size() || !replica.samples[*cpu]) continue;
    const ReplicaReport::Sample& sample = *replica.samples[*cpu];
    const bool usable = std::isfinite(sample.value) && sample.value >= 0 && sample.request > 0 &&
                        request.now - sample.measured <= request.spec.stale_after &&
                        // A sample that began before the pod was ready is of its start, not of its work.
                        !(replica.ready_changed && sample.measured - sample.window < *replica.ready_changed);
    if (!usable) continue;
    cores += sample.value;
    requested += sample.request;
    facts.cpu_measured = std::max(facts.cpu_measured, sample.measured);
    facts.cpu_window = std::max(facts.cpu_window, sample.window);
    ++facts.measured;
  }
  if (facts.measured > 0) {
    facts.cores = cores / facts.measured;
    facts.request = requested / facts.measured;
  }
  facts.requests_per_s = fresh(request.report.requests_per_s, request);
  facts.response_s = fresh(request.report.response_s, request);
  facts.in_flight = fresh(request.report.in_flight, request);
  if (facts.requests_per_s) facts.rate_measured = request.report.requests_per_s->measured;
  return facts;
}

double cpu_target(const ScalerSpec& spec) {
  constexpr double kDefault = 0.8;
  const auto found = std::find_if(spec.metrics.begin(), spec.metrics.end(), [](const MetricTarget& metric) {
    return is_cpu(metric) && metric.kind == MetricTarget::Kind::utilisation;
  });
  return found != spec.metrics.end() && found->target > 0 ? found->target : kDefault;
}

Duration down_window(const ScalerSpec& spec) {
  constexpr Duration kDefault = std::chrono::seconds{300};
  return spec.behaviour ? spec.behaviour->down.stabilisation.value_or(kDefault) : kDefault;
}

DScalerState dscaler_state(const ServiceFacts& facts, const DScalerRanges& ranges) {
  const auto share = [](double value, double of) { return std::clamp(value / of, 0.0, 1.0); };
  return {share(facts.cpu_known() ? facts.utilisation() : 0, 1), share(facts.ready, ranges.replicas),
          share(facts.requests_per_s.value_or(0), ranges.requests_per_s)};
}

std::vector<learning::FeatureRange> dscaler_normalisation(const DScalerRanges& ranges) {
  return {
      {"cpu utilisation", 0, 1}, {"replicas", 0, ranges.replicas}, {"requests/s", 0, ranges.requests_per_s}};
}

}  // namespace evenkeel::autoscaling
