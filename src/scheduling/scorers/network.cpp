#include <algorithm>

#include "scheduling/network_overhead.h"
#include "scheduling/pod_network.h"
#include "scheduling/scorers/scorer.h"

namespace evenkeel::scheduling {

bool is_of_a_group(const PlacementRequest& request) { return !request.pod.shape->app_group.empty(); }

void network_overhead(const PlacementRequest& request, float weight, std::span<float> totals) {
  const NetworkOverhead overhead(request.pod, request.cluster, request.options.profile.network);
  if (overhead.scores_equally()) return;
  std::vector<std::int64_t> costs(totals.size());
  overhead.costs(costs);
  add_normalized_costs(costs, request.feasible, weight, totals);
}

// Not stretched over the whole range: where all are nearly as far, others shall decide.
void network_score(const PlacementRequest& request, float weight, std::span<float> totals) {
  const PodNetwork network(request.pod, request.cluster, request.options.profile.network);
  if (!network.has_peers()) return;
  std::vector<std::int64_t> costs(totals.size());
  network.costs(costs);
  std::int64_t dearest = 0;
  for (std::size_t slot = 0; slot < costs.size(); ++slot)
    if (request.feasible[slot]) dearest = std::max(dearest, costs[slot]);
  if (dearest == 0) return;
  const double share = 100.0 / static_cast<double>(dearest);
  for (std::size_t slot = 0; slot < costs.size(); ++slot) {
    if (!request.feasible[slot]) continue;
    const double saved = share * static_cast<double>(dearest - costs[slot]);
    totals[slot] += weight * static_cast<float>(static_cast<std::int64_t>(saved));
  }
}

}  // namespace evenkeel::scheduling
