#include "prediction/workload_history.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::prediction {
namespace {

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

void WorkloadHistory::observe_usage(const Pod& pod, const Usage& usage, Time at) {
  entry(pod.shape->workload).usage.add(cpu_allowance(*pod.shape), usage, at);
}

void WorkloadHistory::observe_sample(WorkloadId workload, const Usage& usage, Time at) {
  entry(workload).usage.add(0, usage, at);
}

void WorkloadHistory::observe_end(const Pod& pod, Duration ran) {
  entry(pod.shape->workload).life.add(cpu_allowance(*pod.shape), std::chrono::duration<double>(ran).count());
}

Demand WorkloadHistory::demand(const Pod& pod) const {
  const Entry* known = find(pod.shape->workload);
  if (!known || known->usage.empty()) return from_requests(*pod.shape);
  return known->usage.predict(cpu_allowance(*pod.shape));
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

const UsageProfile* WorkloadHistory::profile(WorkloadId workload) const {
  const Entry* known = find(workload);
  return known && !known->usage.empty() ? &known->usage : nullptr;
}

}  // namespace evenkeel::prediction
