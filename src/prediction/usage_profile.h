#pragma once
#include "cluster/usage.h"

namespace evenkeel::prediction {

// Six demands of one workload's pods, each a line over the CPU they are allowed (what a
// pod does scales with the CPU it gets), with the spread around it.
class UsageProfile {
 public:
  void add(double cpu_allowance, const Usage& usage);
  // Of a pod whose allowance is not known: says nothing about the slope.
  void add(const Usage& usage);
  bool empty() const { return samples_ <= 0; }
  Demand predict(double cpu_allowance) const;
  const Usage& mean() const { return mean_; }
  const Usage& peak() const { return peak_; }  // the highest sample in each dimension

 private:
  // As six Regressions over the same x, whose share of the work is done once.
  double samples_ = 0, shaped_ = 0, mean_x_ = 0, sum_xx_ = 0;
  Usage mean_, sum_yy_, sum_xy_, peak_;
};

}  // namespace evenkeel::prediction
