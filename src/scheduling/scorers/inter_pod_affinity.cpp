// InterPodAffinity's score: the weights of what the pod prefers of others and others of it, summed
// over the node's domains and stretched to 0..100.
#include <algorithm>
#include <limits>
#include <map>

#include "scheduling/pod_terms.h"
#include "scheduling/scorers/scorer.h"

namespace evenkeel::scheduling {
namespace {

bool prefers(const PodSpec& spec) {
  return !spec.pod_affinity.preferred.empty() || !spec.pod_anti_affinity.preferred.empty();
}

class DomainScores {
 public:
  explicit DomainScores(const PlacementRequest& request) : request_(request) {}

  void add(const std::string& key, std::span<const std::uint32_t> pods, std::int64_t weight) {
    const Topology& topology = request_.cluster.topology(key);
    auto& scores = by_key_[key];
    scores.resize(topology.values());
    const auto& present = request_.cluster.columns().present;
    const auto& of_node = topology.of_nodes();
    const std::size_t n = std::min({pods.size(), of_node.size(), present.size()});
    for (std::size_t slot = 0; slot < n; ++slot)
      if (pods[slot] != 0 && present[slot] && of_node[slot] != 0)
        scores[of_node[slot]] += weight * pods[slot];
  }

  std::vector<std::int64_t> per_node(std::size_t nodes) const {
    std::vector<std::int64_t> sums(nodes);
    for (const auto& [key, scores] : by_key_) {
      const Topology& topology = request_.cluster.topology(key);
      for (std::size_t slot = 0; slot < nodes; ++slot)
        if (const std::uint32_t value = topology.of(slot); value != 0) sums[slot] += scores[value];
    }
    return sums;
  }

 private:
  const PlacementRequest& request_;
  std::map<std::string, std::vector<std::int64_t>> by_key_;
};

void add_own(const PlacementRequest& request, const std::vector<PreferredPodTerm>& terms, std::int64_t sign,
             DomainScores& scores) {
  for (const auto& [weight, term] : terms) {
    const auto match = pods_meant_by(term, request.pod.shape->name_space, request.cluster.objects());
    if (match) scores.add(term.topology_key, request.cluster.pods_meant({{*match}, false}), sign * weight);
  }
}

// What pods that are there say of the incoming one.
void add_others(const PlacementRequest& request, DomainScores& scores) {
  const Labels& labels = request.cluster.objects().namespace_labels(request.pod.shape->name_space);
  const std::int64_t hard = request.options.profile.hard_pod_affinity_weight;
  for (const RuleHolders& holders : request.cluster.rules().holders()) {
    if (holders.total == 0) continue;
    const std::string& home = holders.example->name_space;
    const auto add = [&](const PodAffinityTerm& term, std::int64_t weight) {
      if (term_means(term, home, request.pod, labels)) scores.add(term.topology_key, holders.on_node, weight);
    };
    const PodSpec& spec = holders.example->spec;
    if (hard > 0)
      for (const PodAffinityTerm& term : spec.pod_affinity.required) add(term, hard);
    for (const auto& [weight, term] : spec.pod_affinity.preferred) add(term, weight);
    for (const auto& [weight, term] : spec.pod_anti_affinity.preferred) add(term, -weight);
  }
}

}  // namespace

bool has_pod_preferences(const PlacementRequest& request) {
  if (prefers(request.pod.spec())) return true;
  return request.cluster.rules().pods() > 0 &&
         !request.options.profile.ignore_preferred_terms_of_existing_pods;
}

void inter_pod_affinity(const PlacementRequest& request, float weight, std::span<float> totals) {
  DomainScores domains(request);
  add_own(request, request.pod.spec().pod_affinity.preferred, 1, domains);
  add_own(request, request.pod.spec().pod_anti_affinity.preferred, -1, domains);
  add_others(request, domains);
  const std::vector<std::int64_t> scores = domains.per_node(totals.size());
  std::int64_t least = std::numeric_limits<std::int64_t>::max(),
               most = std::numeric_limits<std::int64_t>::min();
  for (std::size_t slot = 0; slot < scores.size(); ++slot) {
    if (!request.feasible[slot]) continue;
    least = std::min(least, scores[slot]);
    most = std::max(most, scores[slot]);
  }
  if (most <= least) return;
  for (std::size_t slot = 0; slot < scores.size(); ++slot) {
    if (!request.feasible[slot]) continue;
    const double share = static_cast<double>(scores[slot] - least) / static_cast<double>(most - least);
    totals[slot] += weight * static_cast<float>(static_cast<std::int64_t>(100.0 * share));
  }
}

}  // namespace evenkeel::scheduling
