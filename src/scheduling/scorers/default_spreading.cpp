// Owners that are no objects of an API server (a simulation's): the pod's workload stands for their selector.
// PodTopologySpread with the system's default constraints (hostname, skew 3; zone,
// skew 5; both ScheduleAnyway), which apply to every pod of a ReplicaSet or StatefulSet
// that names no constraints of its own.
#include <algorithm>
#include <cmath>

#include "scheduling/filters/filter.h"
#include "scheduling/scorers/scorer.h"

namespace evenkeel::scheduling {
namespace {

constexpr float kHostSkew = 3, kZoneSkew = 5;

}  // namespace

bool spreads_by_default(const PlacementRequest& request) {
  if (!request.pod.spec().spread.empty()) return false;
  const auto& owners = request.pod.shape->owners;
  return std::any_of(owners.begin(), owners.end(), [](const OwnerReference& owner) {
    return owner.controller && owner.api_version.empty() &&
           (owner.kind == "ReplicaSet" || owner.kind == "StatefulSet" ||
            owner.kind == "ReplicationController");
  });
}

void default_spreading(const PlacementRequest& request, float weight, std::span<float> totals) {
  std::vector<float> scores(totals.size());
  const auto& zone = request.cluster.columns().zone;
  const std::uint32_t zones = *std::max_element(zone.begin(), zone.end()) + 1;
  std::vector<std::uint8_t> has_candidate(zones);
  for (std::size_t slot = 0; slot < scores.size(); ++slot)
    if (request.feasible[slot]) has_candidate[zone[slot]] = 1;
  const auto domains = std::count(has_candidate.begin(), has_candidate.end(), 1);

  std::vector<float> in_zone(zones);
  std::vector<float> on_node(scores.size());
  for (const auto& [slot, count] : request.cluster.replicas(request.pod.shape->workload)) {
    on_node[slot] = static_cast<float>(count);
    // Nodes the pod does not ask for do not count in their zone (nodeAffinityPolicy: Honor).
    const bool counts =
        request.cluster.has_node({slot}) && selects(request.pod.spec(), request.cluster.node({slot}));
    if (counts) in_zone[zone[slot]] += on_node[slot];
  }

  const auto host_weight = static_cast<float>(std::log(static_cast<double>(request.feasible_count) + 2));
  const auto zone_weight = static_cast<float>(std::log(static_cast<double>(domains) + 2));
  float least = 1e30F, most = 0;
  for (std::uint32_t slot = 0; slot < scores.size(); ++slot) {
    if (!request.feasible[slot]) continue;
    float score = on_node[slot] * host_weight + (kHostSkew - 1);
    if (zone[slot] != 0) score += in_zone[zone[slot]] * zone_weight + (kZoneSkew - 1);
    scores[slot] = std::round(score);
    least = std::min(least, scores[slot]);
    most = std::max(most, scores[slot]);
  }
  for (std::size_t i = 0; i < totals.size(); ++i)
    totals[i] += weight * (most == 0 ? 100 : std::floor(100 * (most + least - scores[i]) / most));
}

}  // namespace evenkeel::scheduling
