#include "prediction/workload_history.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::prediction {
namespace {

using namespace std::chrono_literals;
constexpr Duration kClassesEvery = 1h;
constexpr double kLeastWeight = 0.1;  // of a pod's first samples: there may never be others
constexpr double kOwnShare = 0.7;     // of a workload's own record against its class's

double cores(MilliCpu cpu) { return static_cast<double>(cpu.count) / 1000.0; }

// Limits say more about use than requests do, where both are given.
double cpu_allowance(const PodTemplate& shape) {
  return cores(shape.limit.cpu.count > 0 ? shape.limit.cpu : shape.request.cpu);
}

Demand from_requests(const PodTemplate& shape) {
  Demand demand;
  demand.mean[Dimension::cpu] = cores(shape.non_zero.cpu);
  demand.mean[Dimension::memory] = static_cast<double>(shape.non_zero.memory.count);
  for (const Dimension d : {Dimension::cpu, Dimension::memory})
    demand.variance[d] = std::pow(0.5 * demand.mean[d], 2);
  demand.peak = demand.mean;
  return demand;
}

}  // namespace

WorkloadHistory::Entry& WorkloadHistory::entry(WorkloadId workload) {
  if (workload.slot >= entries_.size()) entries_.resize(workload.slot + std::size_t{1});
  return entries_[workload.slot];
}

const WorkloadHistory::Entry* WorkloadHistory::find(WorkloadId workload) const {
  return workload.slot < entries_.size() ? &entries_[workload.slot] : nullptr;
}

void WorkloadHistory::observe_pod(const Pod& pod) {
  Entry& known = entry(pod.shape->workload);
  if (!known.shape_class && ShapeClasses::has_class(*pod.shape))
    known.shape_class = ShapeClasses::key_of(*pod.shape);
}

// Only workloads that run for ever and were seen to do anything speak for their class.
void WorkloadHistory::refresh_classes(Time at) {
  if (classes_made_ != Time::min() && at - classes_made_ < kClassesEvery) return;
  classes_made_ = at;
  make_classes();
}

void WorkloadHistory::make_classes() {
  classes_.clear();
  for (const Entry& known : entries_)
    if (known.shape_class && known.life.ends() == 0 && known.usage.peak()[Dimension::cpu] > 0)
      classes_.add(*known.shape_class, known.usage.mean(), known.usage.peak());
}

void WorkloadHistory::consider_class(const Entry& known, Demand& demand) const {
  if (known.life.ends() > 0) return;  // comes and goes: what a run uses is what the profile says
  demand.peak = known.usage.peak();
  if (!known.shape_class) return;
  const ShapeClasses::Typical typical = classes_.of(*known.shape_class);
  if (typical.workloads < 2) return;
  demand.mean = demand.mean * kOwnShare + typical.mean * (1 - kOwnShare);
  for (std::size_t d = 0; d < kDimensions; ++d)
    demand.peak.of[d] = std::max(demand.peak.of[d], typical.peak.of[d]);
}

void WorkloadHistory::observe_usage(const Pod& pod, const Usage& usage, Time at,
                                    const UsageProfile::Quality& quality) {
  Entry& known = entry(pod.shape->workload);
  known.usage.add(cpu_allowance(*pod.shape), usage, quality);
  ++known.observed;
  refresh_classes(at);
}

double WorkloadHistory::weight_at(Duration age) const {
  if (age >= options_.warm_up) return 1;
  return std::max(kLeastWeight, to_seconds(age) / to_seconds(options_.warm_up));
}

void WorkloadHistory::observe_sample(WorkloadId workload, const Usage& usage, Time at) {
  entry(workload).usage.add(usage);
  ++entry(workload).observed;
  refresh_classes(at);
}

void WorkloadHistory::observe_end(const Pod& pod, Duration ran) {
  Entry& known = entry(pod.shape->workload);
  known.life.add(cpu_allowance(*pod.shape), std::chrono::duration<double>(ran).count());
  ++known.observed;
}

Demand WorkloadHistory::demand(const Pod& pod) const {
  const Entry* known = find(pod.shape->workload);
  if (!known || known->usage.empty()) return from_requests(*pod.shape);
  Demand demand = known->usage.predict(cpu_allowance(*pod.shape));
  consider_class(*known, demand);
  const Demand asked = from_requests(*pod.shape);
  for (const Dimension d : {Dimension::cpu, Dimension::memory}) {
    const double seen = known->usage.weight(d);
    const double doubt = seen <= 0 ? 1 : options_.request_weight / (options_.request_weight + seen);
    if (doubt <= 0) continue;
    demand.mean[d] += (asked.mean[d] - demand.mean[d]) * doubt;
    demand.variance[d] += (asked.variance[d] - demand.variance[d]) * doubt;
    demand.peak[d] = std::max(demand.peak[d], demand.mean[d]);
  }
  return demand;
}

Lifetime WorkloadHistory::lifetime(const Pod& pod) const {
  if (foresight_) {
    const double life = foresight_->life_s(pod.id);
    return life < 0 ? Lifetime{} : Lifetime{std::log(std::max(life, 1e-3)), 0.001, false};
  }
  const Entry* known = find(pod.shape->workload);
  return known ? known->life.predict(cpu_allowance(*pod.shape)) : Lifetime{};
}

std::size_t WorkloadHistory::ends(WorkloadId workload) const {
  const Entry* known = find(workload);
  return known ? known->life.ends() : 0;
}

std::uint64_t WorkloadHistory::observed(WorkloadId workload) const {
  const Entry* known = find(workload);
  return known ? known->observed : 0;
}

WorkloadPast WorkloadHistory::past(WorkloadId workload) const {
  WorkloadPast past;
  const Entry* known = find(workload);
  if (!known) return past;
  known->usage.save(past);
  past.life = known->life.sums();
  past.ends = known->life.ends();
  past.shape_class = known->shape_class;
  return past;
}

void WorkloadHistory::restore(std::span<const std::pair<WorkloadId, WorkloadPast>> pasts) {
  for (const auto& [workload, past] : pasts) {
    Entry& known = entry(workload);
    known.usage.restore(past);
    known.life.restore(past.life, past.ends);
    known.shape_class = past.shape_class;
  }
  make_classes();
}

const UsageProfile* WorkloadHistory::profile(WorkloadId workload) const {
  const Entry* known = find(workload);
  return known && !known->usage.empty() ? &known->usage : nullptr;
}

}  // namespace evenkeel::prediction
