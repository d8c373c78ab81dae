#include <algorithm>
#include <cmath>

#include "scheduling/filters/filter.h"
#include "scheduling/scorers/scorer.h"

namespace evenkeel::scheduling {

bool has_node_preferences(const PlacementRequest& request) {
  return !request.pod.spec().node_affinity.preferred.empty();
}

void node_affinity(const PlacementRequest& request, std::span<float> scores) {
  float most = 0;
  for (std::uint32_t slot = 0; slot < scores.size(); ++slot) {
    scores[slot] = 0;
    if (!request.feasible[slot]) continue;
    for (const PreferredNodeTerm& preferred : request.pod.spec().node_affinity.preferred)
      if (preferred.weight != 0 && term_matches(preferred.term, request.cluster.node({slot})))
        scores[slot] += static_cast<float>(preferred.weight);
    most = std::max(most, scores[slot]);
  }
  if (most > 0)
    for (float& score : scores) score = std::floor(100 * score / most);
}

}  // namespace evenkeel::scheduling
