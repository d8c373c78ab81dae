#include <algorithm>
#include <array>

#include "scheduling/scorers/scorer.h"

namespace evenkeel::scheduling {
namespace {

bool always(const PlacementRequest&) { return true; }

// To add a scorer: write its file, add its line. Weights are the default profile's.
constexpr auto profile(void (*balanced)(const PlacementRequest&, float, std::span<float>)) {
  return std::array{
      Scorer{"TaintToleration", 3, has_prefer_no_schedule_taints, taint_toleration, 100},
      Scorer{"NodeAffinity", 2, has_node_preferences, node_affinity},
      Scorer{"NodeResourcesFit", 1, always, fit_score},
      Scorer{"PodTopologySpread", 2, spreads_somehow, topology_spread},
      Scorer{"InterPodAffinity", 2, has_pod_preferences, inter_pod_affinity},
      Scorer{"NodeResourcesBalancedAllocation", 1, asks_for_balanced_resources, balanced},
      Scorer{"ImageLocality", 1, has_known_images, image_locality},
  };
}

// Those that a profile has to name, with the weight they have when it gives none.
constexpr std::array kNamedOnly = {
    Scorer{"NetworkOverhead", 1, is_of_a_group, network_overhead},
    Scorer{"NetworkMinCost", 1, is_of_a_group, network_overhead},
    Scorer{"NetworkScore", 1, is_of_a_group, network_score},
};

}  // namespace

std::span<const Scorer> kube_default_scorers(KubeVersion version) {
  static constexpr auto kOld = profile(balanced_allocation_1_23);
  static constexpr auto kNew = profile(balanced_score);
  return version == KubeVersion::v1_23 ? std::span<const Scorer>(kOld) : std::span<const Scorer>(kNew);
}

std::vector<Scorer> profile_scorers(const SchedulingOptions& options) {
  const std::span<const Scorer> defaults = kube_default_scorers(options.kube);
  if (!options.profile.scorers) return {defaults.begin(), defaults.end()};
  std::vector<Scorer> wanted;
  for (const ScorePlugin& plugin : *options.profile.scorers) {
    const auto is_meant = [&](const Scorer& scorer) { return scorer.plugin == plugin.name; };
    const auto at = std::find_if(defaults.begin(), defaults.end(), is_meant);
    const auto other = std::find_if(kNamedOnly.begin(), kNamedOnly.end(), is_meant);
    if (at == defaults.end() && other == kNamedOnly.end()) continue;
    wanted.push_back(at == defaults.end() ? *other : *at);
    wanted.back().weight = static_cast<float>(plugin.weight);
  }
  return wanted;
}

}  // namespace evenkeel::scheduling
