#include "scheduling/decision.h"

#include <algorithm>
#include <map>

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
  if (pod.terminating) return "skip schedule deleting pod: " + pod.full_name();
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

// "0/3 nodes are available: 2 Insufficient cpu, 1 node(s) were unschedulable. preemption: …"
std::string fit_error(const Decision& decision, const std::optional<Refusal>& refused,
                      const std::string& preemption) {
  std::string message = "0/" + std::to_string(decision.rejected.size()) + " nodes are available:";
  if (refused) {
    message += " " + refused->reason + ".";
  } else {
    std::map<std::string, int> counts;
    for (const Decision::Rejection& rejection : decision.rejected)
      for (const Objection& objection : rejection.objections) ++counts[objection.reason];
    std::vector<std::string> phrases;
    for (const auto& [reason, nodes] : counts) phrases.push_back(std::to_string(nodes) + " " + reason);
    std::sort(phrases.begin(), phrases.end());  // count and all, as kube-scheduler sorts them
    for (std::size_t i = 0; i < phrases.size(); ++i) message += (i == 0 ? " " : ", ") + phrases[i];
    message += ".";
  }
  return preemption.empty() ? message : message + " " + preemption;
}

// What the filters say node by node, and what they say of the field as a whole, which is what schedules pods.
void look_at_nodes(const DecisionInput& input, const FilterInput& question, const std::vector<NodeId>& nodes,
                   std::vector<std::uint8_t>& feasible, Decision& decision) {
  const auto& present = input.cluster.columns().present;
  feasible.assign(present.begin(), present.end());
  apply_filters(question, feasible);
  for (const NodeId node : nodes) {
    NodeVerdict verdict = input.nominations.empty()
                              ? judge(question, node)
                              : judge_with_nominated(question, input.cluster, node, input.nominations);
    if (verdict.failed) {
      decision = {};
      decision.unschedulable = std::move(verdict.objections.front().reason);
      return;
    }
    if (!verdict.objections.empty()) decision.rejected.push_back({node, std::move(verdict.objections)});
    if (!input.nominations.empty())
      feasible[node.slot] = decision.rejected.empty() || decision.rejected.back().node != node;
    if (feasible[node.slot]) decision.feasible.push_back(node);
  }
}

// Whatever policy decides.
void look_at_edges(const DecisionInput& input, const std::vector<NodeId>& nodes, Decision& decision) {
  if (input.pod.shape->app_group.empty()) return;
  const NetworkArguments& arguments = input.options.profile.network;
  const PodNetwork network(input.pod, input.cluster, arguments);
  decision.network_missing = network.missing();
  decision.peers = edges_of(input.pod, input.cluster, arguments);
  if (decision.peers.empty()) return;
  const NetworkView view = view_network(input.cluster, arguments);
  for (const NodeId node : decision.feasible.empty() ? nodes : decision.feasible) {
    Decision::Edges& edges = decision.edges.emplace_back(Decision::Edges{node, {}, network.cost(node)});
    for (const PodEdge& peer : decision.peers)
      edges.costs.push_back(peer.is_target ? view.cost(node, peer.peer_node)
                                           : view.cost(peer.peer_node, node));
  }
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
  const std::optional<Refusal> refused = refusal(question);
  std::vector<std::uint8_t> feasible;
  if (refused) {
    for (const NodeId node : nodes) decision.rejected.push_back({node, {{refused->plugin, refused->reason}}});
  } else {
    look_at_nodes(input, question, nodes, feasible, decision);
  }
  if (!decision.unschedulable.empty()) return decision;
  look_at_edges(input, nodes, decision);
  if (decision.feasible.empty()) {
    PreemptionOutcome outcome;
    if (input.options.profile.preemption)
      outcome = preempt(question, input.cluster, input.nominations, input.now);
    decision.unschedulable = fit_error(decision, refused, outcome.victims ? "" : outcome.message);
    decision.preemption = std::move(outcome.victims);
    return decision;
  }
  const PlacementRequest request{input.pod,  input.cluster, input.history,
                                 input.runs, input.options, input.now,
                                 demand,     feasible,      decision.feasible.size()};
  decision.scores = policy.explain(request);
  decision.node = nominated(input.pod, input.cluster, decision.feasible);
  if (decision.node) return decision;
  decision.node = policy.choose(request, random);
  // Only a weighing of plugins knows ties; a policy that draws lots or takes turns has made its choice.
  const ScoreSheet& sheet = decision.scores;
  if (ties == Ties::by_lot || sheet.weights.empty() || !decision.node) return decision;
  for (const ScoreSheet::Row& row : sheet.rows)
    if (row.node == *decision.node && row.total == sheet.rows.front().total)
      decision.node = first_by_name_of_the_best(sheet, input.cluster);
  return decision;
}

}  // namespace evenkeel::scheduling
