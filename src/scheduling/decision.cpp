#include "scheduling/decision.h"

#include <algorithm>

namespace evenkeel::scheduling {
namespace {

std::vector<NodeId> nodes_by_name(const ClusterState& cluster) {
  std::vector<NodeId> nodes;
  for (std::uint32_t slot = 0; slot < cluster.columns().size(); ++slot)
    if (cluster.has_node({slot})) nodes.push_back({slot});
  std::sort(nodes.begin(), nodes.end(),
            [&](NodeId a, NodeId b) { return cluster.node(a).name < cluster.node(b).name; });
  return nodes;
}

// Why the pod is not even looked at; empty when it is.
std::string held_back(const Pod& pod) {
  const PodSpec& spec = pod.spec();
  if (!spec.scheduling_gates.empty()) {
    std::string gates;
    for (const std::string& gate : spec.scheduling_gates) gates += (gates.empty() ? "" : " ") + gate;
    return "waiting for scheduling gates: [" + gates + "]";
  }
  if (const std::string_view feature = unsupported_feature(spec); !feature.empty())
    return "the pod uses " + std::string(feature) + ", which is not honoured here: left pending, not guessed";
  return "";
}

// A pod for whom others made room goes there, if it can, before anything is compared.
std::optional<NodeId> nominated(const Pod& pod, const ClusterState& cluster,
                                const std::vector<NodeId>& feasible) {
  if (pod.nominated_node.empty()) return std::nullopt;
  for (const NodeId node : feasible)
    if (cluster.node(node).name == pod.nominated_node) return node;
  return std::nullopt;
}

NodeId first_by_name_of_the_best(const ScoreSheet& sheet, const ClusterState& cluster) {
  NodeId best = sheet.rows.front().node;
  for (const ScoreSheet::Row& row : sheet.rows)
    if (row.total == sheet.rows.front().total && cluster.node(row.node).name < cluster.node(best).name)
      best = row.node;
  return best;
}

}  // namespace

Decision decide(const DecisionInput& input, PlacementPolicy& policy, Ties ties, Random& random) {
  Decision decision;
  if (decision.unschedulable = held_back(input.pod); !decision.unschedulable.empty()) return decision;
  const std::vector<NodeId> nodes = nodes_by_name(input.cluster);
  if (nodes.empty()) {
    decision.unschedulable = "no nodes available to schedule pods";
    return decision;
  }
  const Demand demand = input.history.demand(input.pod);
  const FilterInput question{input.pod, input.cluster, demand, input.options};
  std::vector<std::uint8_t> feasible(input.cluster.columns().size(), 0);
  for (const NodeId node : nodes) {
    std::vector<Objection> found = objections(question, node);
    if (found.empty()) {
      feasible[node.slot] = 1;
      decision.feasible.push_back(node);
    } else {
      decision.rejected.push_back({node, std::move(found)});
    }
  }
  if (decision.feasible.empty()) {
    decision.unschedulable = unschedulable_message(question);
    return decision;
  }
  const PlacementRequest request{input.pod,  input.cluster, input.history,
                                 input.runs, input.options, input.now,
                                 demand,     feasible,      decision.feasible.size()};
  decision.scores = policy.explain(request);
  decision.node = nominated(input.pod, input.cluster, decision.feasible);
  if (decision.node) return decision;
  // Only a weighing of plugins knows ties; a policy that draws lots or takes turns has made its choice.
  const bool weighed = !decision.scores.weights.empty();
  decision.node = weighed && ties == Ties::by_name ? first_by_name_of_the_best(decision.scores, input.cluster)
                                                   : policy.choose(request, random);
  return decision;
}

}  // namespace evenkeel::scheduling
