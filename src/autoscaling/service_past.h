#pragma once
#include <span>
#include <vector>

#include "cluster/scaling_world.h"

namespace evenkeel::autoscaling {

struct PastOptions {
  Duration kept{std::chrono::hours{1}};
  Duration fine{std::chrono::minutes{15}};   // all reports of so long
  Duration coarse{std::chrono::minutes{1}};  // then one of each
  std::size_t decisions = 64;                // at most
};

// What is remembered of one workload: an hour in some 15 KB, so that a thousand of them do not fill a
// machine.
class ServicePast {
 public:
  void add(ServiceReport report, const PastOptions& options);
  void add(ScalingDecision decision, const PastOptions& options);

  std::span<const ServiceReport> reports() const { return reports_; }
  std::span<const ScalingDecision> decisions() const { return decisions_; }

 private:
  std::vector<ServiceReport> reports_;      // oldest first, without replicas
  std::size_t coarse_ = 0;                  // so many of them have been thinned out
  std::vector<ScalingDecision> decisions_;  // oldest first, without reasons
};

}  // namespace evenkeel::autoscaling
