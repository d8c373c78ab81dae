#include <algorithm>
#include <cmath>

#include "scheduling/filters/filter.h"
#include "scheduling/scorers/scorer.h"

namespace evenkeel::scheduling {

bool has_prefer_no_schedule_taints(const PlacementRequest& request) {
  if (request.cluster.columns().tainted_nodes == 0) return false;
  const auto& tainted = request.cluster.columns().tainted;
  for (std::uint32_t slot = 0; slot < tainted.size(); ++slot) {
    if (!tainted[slot] || !request.feasible[slot]) continue;
    for (const Taint& taint : request.cluster.node({slot}).taints)
      if (taint.effect == TaintEffect::prefer_no_schedule) return true;
  }
  return false;
}

void taint_toleration(const PlacementRequest& request, std::span<float> scores) {
  float most = 0;
  for (std::uint32_t slot = 0; slot < scores.size(); ++slot) {
    scores[slot] = 0;
    if (!request.feasible[slot]) continue;
    for (const Taint& taint : request.cluster.node({slot}).taints)
      if (taint.effect == TaintEffect::prefer_no_schedule &&
          !tolerates(request.pod.spec().tolerations, taint))
        ++scores[slot];
    most = std::max(most, scores[slot]);
  }
  for (float& score : scores) score = most > 0 ? 100 - std::floor(100 * score / most) : 100;
}

}  // namespace evenkeel::scheduling
