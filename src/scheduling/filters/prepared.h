#pragma once
#include <optional>

#include "scheduling/filters/filter.h"
#include "scheduling/filters/once_per_pod_state.h"
#include "scheduling/filters/pod_affinity_state.h"
#include "scheduling/filters/spread_state.h"

namespace evenkeel::scheduling {

// What depends on the pod and the cluster as a whole, worked out once per pod when first asked
// for (kube-scheduler's PreFilter), and how it changes when a pod is imagined on a node or away.
class PreparedPod {
 public:
  SpreadState& spread(const FilterInput& input) {
    if (!spread_) spread_.emplace(input);
    return *spread_;
  }
  PodAffinityState& affinity(const FilterInput& input) {
    if (!affinity_) affinity_.emplace(input);
    return *affinity_;
  }
  OncePerPodState& once(const FilterInput& input) {
    if (!once_) once_.emplace(input);
    return *once_;
  }
  void add(const FilterInput& input, const Pod& other, NodeId node, int times) {
    if (counts(kPodTopologySpread, input)) spread(input).add(input, other, node, times);
    if (!input.pod.shape->plain) once(input).add(other, times);
    if (counts(kInterPodAffinity, input)) affinity(input).add(input, other, node, times);
  }

 private:
  std::optional<SpreadState> spread_;
  std::optional<PodAffinityState> affinity_;
  std::optional<OncePerPodState> once_;
};

inline PreparedPod& prepared(const FilterInput& input) {
  if (!input.prepared) input.prepared = std::make_shared<PreparedPod>();
  return *input.prepared;
}

}  // namespace evenkeel::scheduling
