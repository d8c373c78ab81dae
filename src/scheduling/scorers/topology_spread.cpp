// PodTopologySpread's score: fewer pods that match in the node's domains are better, the more so
// the fewer domains there are.
#include <algorithm>
#include <cmath>
#include <limits>

#include "scheduling/scorers/scorer.h"
#include "scheduling/spread_constraints.h"

namespace evenkeel::scheduling {
namespace {

struct Part {
  SpreadConstraint constraint;
  const Topology* topology = nullptr;
  bool by_host = false;
  std::span<const std::uint32_t> on_node;  // pods that match
  std::vector<std::int64_t> in_domain;     // by the topology's numbers
  double weight = 0;
  std::uint32_t empty_value = 0;

  // A label that is empty and none at all are one domain, as in a Go map.
  std::uint32_t domain(std::size_t slot) const {
    const std::uint32_t value = topology->of(slot);
    return value == empty_value ? 0 : value;
  }
};

void fill_domains(const PlacementRequest& request, const std::vector<std::uint8_t>& ignored, Part& part,
                  std::size_t scored) {
  const auto& present = request.cluster.columns().present;
  std::vector<std::uint8_t> has_candidate(part.topology->values());
  std::size_t domains = 0;
  for (std::size_t slot = 0; slot < present.size(); ++slot) {
    if (!request.feasible[slot] || ignored[slot]) continue;
    std::uint8_t& seen = has_candidate[part.domain(slot)];
    domains += seen == 0;
    seen = 1;
  }
  part.weight = std::log(static_cast<double>(part.by_host ? scored : domains) + 2);
  if (part.by_host || part.on_node.empty()) return;
  const PodSpec& spec = request.pod.spec();
  const bool choosy = (part.constraint.honor_node_affinity &&
                       (!spec.node_selector.all().empty() || spec.node_affinity.required)) ||
                      (part.constraint.honor_node_taints && request.cluster.columns().tainted_nodes > 0);
  for (std::uint32_t slot = 0; slot < present.size(); ++slot) {
    if (!present[slot] || ignored[slot] || part.on_node[slot] == 0 || !has_candidate[part.domain(slot)])
      continue;
    if (!choosy || includes(part.constraint, spec, request.cluster.node({slot})))
      part.in_domain[part.domain(slot)] += part.on_node[slot];
  }
}

}  // namespace

bool spreads_somehow(const PlacementRequest& request) {
  if (spreads_by_default(request)) return true;
  if (request.pod.spec().spread.empty() && request.cluster.objects().controllers().empty()) return false;
  return !soft_constraints(request.pod, request.cluster, request.options.profile).empty();
}

void topology_spread(const PlacementRequest& request, float weight, std::span<float> totals) {
  if (spreads_by_default(request)) return default_spreading(request, weight, totals);
  const auto& profile = request.options.profile;
  // The system's own defaults still spread over hosts where there are no zones.
  const bool needs_all = !request.pod.spec().spread.empty() || profile.default_spread.has_value();
  std::vector<Part> parts;
  for (SpreadConstraint& constraint : soft_constraints(request.pod, request.cluster, profile)) {
    Part part;
    part.topology = &request.cluster.topology(constraint.topology_key);
    part.by_host = constraint.topology_key == kHostnameLabel;
    part.empty_value = part.topology->empty_value();
    part.in_domain.resize(part.topology->values());
    part.constraint = std::move(constraint);
    parts.push_back(std::move(part));
  }
  // Asked for all at once: a new answer may move the others.
  for (int round = 0; round < 2; ++round)
    for (Part& part : parts) {
      const PodQuery query = part.constraint.query(request.pod.shape->name_space);
      if (!query.all.empty()) part.on_node = request.cluster.pods_meant(query);
    }

  const std::size_t n = totals.size();
  std::vector<std::uint8_t> ignored(n);
  std::size_t scored = 0;
  for (std::size_t slot = 0; slot < n; ++slot) {
    ignored[slot] = needs_all && std::any_of(parts.begin(), parts.end(),
                                             [&](const Part& part) { return part.topology->of(slot) == 0; });
    scored += request.feasible[slot] && !ignored[slot];
  }
  for (Part& part : parts) fill_domains(request, ignored, part, scored);

  std::vector<std::int64_t> scores(n);
  std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = 0;
  for (std::size_t slot = 0; slot < n; ++slot) {
    if (!request.feasible[slot] || ignored[slot]) continue;
    double score = 0;
    for (const Part& part : parts) {
      if (part.topology->of(slot) == 0) continue;
      const std::int64_t pods = !part.by_host          ? part.in_domain[part.domain(slot)]
                                : part.on_node.empty() ? 0
                                                       : part.on_node[slot];
      score += static_cast<double>(pods) * part.weight + static_cast<double>(part.constraint.max_skew - 1);
    }
    scores[slot] = std::llround(score);
    least = std::min(least, scores[slot]);
    most = std::max(most, scores[slot]);
  }
  for (std::size_t slot = 0; slot < n; ++slot) {
    if (!request.feasible[slot] || ignored[slot]) continue;
    const std::int64_t score = most == 0 ? 100 : 100 * (most + least - scores[slot]) / most;
    totals[slot] += weight * static_cast<float>(score);
  }
}

}  // namespace evenkeel::scheduling
