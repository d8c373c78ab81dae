#pragma once
#include <optional>

#include "scheduling/filters/filter.h"
#include "scheduling/filters/once_per_pod_state.h"
#include "scheduling/filters/pod_affinity_state.h"
#include "scheduling/filters/spread_state.h"
#include "scheduling/network_overhead.h"
#include "scheduling/pod_network.h"

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
  PodNetwork& network(const FilterInput& input) {
    if (!network_) network_.emplace(input.pod, input.cluster, input.options.profile.network);
    return *network_;
  }
  const NetworkOverhead& overhead(const FilterInput& input) {
    if (!overhead_) overhead_.emplace(input.pod, input.cluster, input.options.profile.network);
    return *overhead_;
  }
  void add(const FilterInput& input, const Pod& other, NodeId node, int times) {
    if (counts(kPodTopologySpread, input)) spread(input).add(input, other, node, times);
    if (!input.pod.shape->plain) once(input).add(other, times);
    if (counts(kInterPodAffinity, input)) affinity(input).add(input, other, node, times);
    // Upstream's NetworkOverhead does not look at who is imagined.
    if (counts(kNetworkFit, input)) network(input).add(other, node, times);
  }

 private:
  std::optional<SpreadState> spread_;
  std::optional<PodAffinityState> affinity_;
  std::optional<OncePerPodState> once_;
  std::optional<PodNetwork> network_;
  std::optional<NetworkOverhead> overhead_;
};

inline PreparedPod& prepared(const FilterInput& input) {
  if (!input.prepared) input.prepared = std::make_shared<PreparedPod>();
  return *input.prepared;
}

}  // namespace evenkeel::scheduling
