#pragma once
#include <vector>

#include "cluster/pod.h"
#include "prediction/workload_history.h"

namespace evenkeel::scheduling {

// How long will a pod of this workload run? From runs that ended; while none has, from
// those under way: a workload that has run for a minute takes more than a minute.
class RunEstimates {
 public:
  void placed(const Pod& pod, Time now);
  void gone(const Pod& pod);

  struct Estimate {
    double seconds = 0;
    bool known = false;  // a run has ended
    bool probe = false;  // never run and none under way: try one, before anything else
  };
  Estimate of(const Pod& pod, const prediction::WorkloadHistory& history, Time now) const;

 private:
  struct UnderWay {
    std::uint32_t pods = 0;
    Time first{};
  };
  std::vector<UnderWay> under_way_;  // by WorkloadId::slot
};

}  // namespace evenkeel::scheduling
