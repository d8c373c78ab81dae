#include <algorithm>
#include <cmath>
#include <vector>

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

void taint_toleration(const PlacementRequest& request, float weight, std::span<float> totals) {
  std::vector<float> scores(totals.size());
  float most = 0;
  for (std::uint32_t slot = 0; slot < scores.size(); ++slot) {
    if (!request.feasible[slot]) continue;
    for (const Taint& taint : request.cluster.node({slot}).taints)
      if (taint.effect == TaintEffect::prefer_no_schedule &&
          !tolerates(request.pod.spec().tolerations, taint))
        ++scores[slot];
    most = std::max(most, scores[slot]);
  }
  for (std::size_t i = 0; i < totals.size(); ++i)
    totals[i] += weight * (most > 0 ? 100 - std::floor(100 * scores[i] / most) : 100);
}

}  // namespace evenkeel::scheduling
