#pragma once
#include <array>

#include "base/time.h"
#include "cluster/usage.h"
#include "prediction/regression.h"

namespace evenkeel::prediction {

// Six demands of one workload's pods, each a line over the CPU they are allowed (what a
// pod does scales with the CPU it gets), with the spread around it.
class UsageProfile {
 public:
  void add(double cpu_allowance, const Usage& usage, Time at);
  bool empty() const { return lines_.front().empty(); }
  Demand predict(double cpu_allowance) const;

 private:
  std::array<Regression, kDimensions> lines_;
};

}  // namespace evenkeel::prediction
