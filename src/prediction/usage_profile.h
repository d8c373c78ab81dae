#pragma once
#include "cluster/usage.h"
#include "cluster/workload_past.h"

namespace evenkeel::prediction {

// Six demands of one workload's pods, each a line over the CPU they are allowed (what a
// pod does scales with the CPU it gets), with the spread around it.
class UsageProfile {
 public:
  // How a sample counts: which of the six it says anything about, and how much beside others.
  struct Quality {
    KnownDimensions known = kAllKnown;
    double weight = 1;
  };
  void add(double cpu_allowance, const Usage& usage) { add(cpu_allowance, usage, {}); }
  void add(double cpu_allowance, const Usage& usage, const Quality& quality);
  // Of a pod whose allowance is not known: says nothing about the slope.
  void add(const Usage& usage) { add(usage, {}); }
  void add(const Usage& usage, const Quality& quality);
  bool empty() const;
  double weight(Dimension d) const { return samples_[d]; }  // of all samples that say something about it
  Demand predict(double cpu_allowance) const;
  const Usage& mean() const { return mean_; }
  // The highest sample in each dimension, of those that count in full.
  const Usage& peak() const { return peak_; }

  void save(WorkloadPast& past) const;
  void restore(const WorkloadPast& past);

 private:
  // As six Regressions, side by side.
  Usage samples_, shaped_, mean_x_, sum_xx_;
  Usage mean_, sum_yy_, sum_xy_, peak_;
};

}  // namespace evenkeel::prediction
