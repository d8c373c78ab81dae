#include <algorithm>
#include <cmath>
#include <vector>

#include "scheduling/filters/filter.h"
#include "scheduling/scorers/scorer.h"

namespace evenkeel::scheduling {

bool has_node_preferences(const PlacementRequest& request) {
  const auto& added = request.options.profile.added_affinity;
  return !request.pod.spec().node_affinity.preferred.empty() || (added && !added->preferred.empty());
}

void node_affinity(const PlacementRequest& request, float weight, std::span<float> totals) {
  std::vector<PreferredNodeTerm> terms = request.pod.spec().node_affinity.preferred;
  if (const auto& added = request.options.profile.added_affinity)
    terms.insert(terms.end(), added->preferred.begin(), added->preferred.end());
  std::vector<float> scores(totals.size());
  float most = 0;
  for (const PreferredNodeTerm& preferred : terms) {
    if (preferred.weight == 0) continue;
    const std::span<const std::uint8_t> meant = request.cluster.nodes_meant({{}, {preferred.term}, false});
    for (std::size_t slot = 0; slot < scores.size(); ++slot)
      scores[slot] += static_cast<float>(preferred.weight * meant[slot]);
  }
  for (std::size_t slot = 0; slot < scores.size(); ++slot)
    if (request.feasible[slot]) most = std::max(most, scores[slot]);
  if (most <= 0) return;
  for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += weight * std::floor(100 * scores[i] / most);
}

}  // namespace evenkeel::scheduling
