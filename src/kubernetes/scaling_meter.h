#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/scaling_world.h"
#include "kubernetes/workload_scaler.h"

namespace evenkeel::kubernetes {

// One look at one workload, on its way to a report.
struct ScalingLook {
  ScalerId id;
  std::shared_ptr<const WorkloadScaler> scaler;
  ServiceReport report{};  // whom there is, with requests by metric; measurements are to be filled in
  std::string trouble{};   // why measurements are missing, where somebody knows
};

// Who knows what workloads do. In the turns of the same loop; a question about many costs little more than
// one about a few.
class ServiceMeter {
 public:
  virtual ~ServiceMeter() = default;
  // Fills in what is known; what is not stays absent. `done` once, now or in a later turn, after a bounded
  // time; the looks stay where they are until then.
  virtual void measure(std::vector<ScalingLook>& looks, std::function<void()> done) = 0;
};

}  // namespace evenkeel::kubernetes
