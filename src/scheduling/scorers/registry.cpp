#include <array>

#include "scheduling/scorers/scorer.h"

namespace evenkeel::scheduling {
namespace {

bool always(const PlacementRequest&) { return true; }

// To add a scorer: write its file, add its line. Weights are the default profile's.
constexpr auto profile(void (*balanced)(const PlacementRequest&, float, std::span<float>)) {
  return std::array{
      Scorer{"TaintToleration", 3, has_prefer_no_schedule_taints, taint_toleration},
      Scorer{"NodeAffinity", 2, has_node_preferences, node_affinity},
      Scorer{"NodeResourcesFit", 1, always, least_allocated},
      Scorer{"PodTopologySpread", 2, spreads_by_default, default_spreading},
      Scorer{"NodeResourcesBalancedAllocation", 1, requests_something, balanced},
  };
}

}  // namespace

std::span<const Scorer> kube_default_scorers(KubeVersion version) {
  static constexpr auto kOld = profile(balanced_allocation_1_23);
  static constexpr auto kNew = profile(balanced_allocation_1_36);
  return version == KubeVersion::v1_23 ? std::span<const Scorer>(kOld) : std::span<const Scorer>(kNew);
}

}  // namespace evenkeel::scheduling
