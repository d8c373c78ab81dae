#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "autoscaling/policies/policy.h"
#include "base/time.h"
#include "cluster/scaler.h"

namespace evenkeel::apps {

// What policies learnt of workloads, a file each (FOLDER/scaling/NAMESPACE/NAME.checkpoint), so that a
// restart goes on where it ended. A file that is damaged or another policy's is passed over and said.
class ScalingStateFiles {
 public:
  using Log = std::function<void(const std::string&)>;
  ScalingStateFiles(std::string folder, Log log) : folder_(std::move(folder)), log_(std::move(log)) {}

  void restore(const ScalerSpec& spec, autoscaling::ScalingPolicy& policy) const;
  void save(const ScalerSpec& spec, const autoscaling::ScalingPolicy& policy);

 private:
  std::string path_of(const ScalerSpec& spec) const;

  std::string folder_;
  Log log_;
  std::string said_;  // the trouble that was told last
};

}  // namespace evenkeel::apps
