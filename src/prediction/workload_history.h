#pragma once
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cluster/pod.h"
#include "prediction/history_options.h"
#include "prediction/lifetime.h"
#include "prediction/shape_classes.h"
#include "prediction/usage_profile.h"

namespace evenkeel::prediction {

// What is known of a pod that nobody could know: for references that see the future.
class Foresight {
 public:
  virtual ~Foresight() = default;
  // Seconds the pod runs in all if nothing slows it down; negative when endless.
  virtual double life_s(PodId pod) const = 0;
};

// What each workload's pods used and how long they ran, and what that says of the next
// one. Strictly causal: it knows what it was told, in the order it was told.
class WorkloadHistory {
 public:
  explicit WorkloadHistory(HistoryOptions options = {}) : options_(options) {}

  void observe_pod(const Pod& pod);  // it exists, and this is its shape
  void observe_usage(const Pod& pod, const Usage& usage, Time at) { observe_usage(pod, usage, at, {}); }
  void observe_usage(const Pod& pod, const Usage& usage, Time at, const UsageProfile::Quality& quality);
  // How much a sample of a pod of that age counts.
  double weight_at(Duration age) const;
  void observe_sample(WorkloadId workload, const Usage& usage, Time at);
  void observe_end(const Pod& pod, Duration ran);

  // Starts from requests, and from nothing in the dimensions that cannot be requested; the same for a
  // dimension that no sample ever told of.
  Demand demand(const Pod& pod) const;
  Lifetime lifetime(const Pod& pod) const;
  std::size_t ends(WorkloadId workload) const;
  const UsageProfile* profile(WorkloadId workload) const;

  // What a store keeps beyond our life. `observed` grows with everything that changes a workload's past.
  std::size_t workloads() const { return entries_.size(); }  // slots below that may have a past
  std::uint64_t observed(WorkloadId workload) const;
  WorkloadPast past(WorkloadId workload) const;
  void restore(std::span<const std::pair<WorkloadId, WorkloadPast>> pasts);

  // References only; not owned.
  void set_foresight(const Foresight* foresight) { foresight_ = foresight; }

 private:
  struct Entry {
    UsageProfile usage;
    LifetimeHistory life;
    std::optional<ShapeClasses::Key> shape_class;
    std::uint64_t observed = 0;
  };
  void refresh_classes(Time at);
  void make_classes();
  void consider_class(const Entry& known, Demand& demand) const;
  Entry& entry(WorkloadId workload);
  const Entry* find(WorkloadId workload) const;

  HistoryOptions options_;
  std::vector<Entry> entries_;  // by WorkloadId::slot
  ShapeClasses classes_;
  Time classes_made_ = Time::min();
  const Foresight* foresight_ = nullptr;
};

}  // namespace evenkeel::prediction
