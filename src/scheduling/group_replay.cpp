#include "scheduling/group_replay.h"

#include <limits>

#include "scheduling/filters/filter.h"
#include "scheduling/preemption.h"

namespace evenkeel::scheduling {
namespace {

constexpr std::uint32_t kNowhere = GroupProblem::kNowhere;

// Latency to mates that have a place by now, and bias.
double cost_at(const GroupProblem& problem, const std::vector<std::uint32_t>& node_of, std::uint32_t pod,
               std::uint32_t node) {
  double cost = problem.pods[pod].bias.empty() ? 0 : problem.pods[pod].bias[node];
  for (const GroupProblem::Edge& edge : problem.edges) {
    if (edge.from == pod && node_of[edge.to] != kNowhere)
      cost += edge.weight * problem.distance(node, node_of[edge.to]);
    if (edge.to == pod && node_of[edge.from] != kNowhere)
      cost += edge.weight * problem.distance(node_of[edge.from], node);
  }
  return cost;
}

}  // namespace

ReplayedPlan replay_plan(const GroupView& view, const std::vector<std::uint32_t>& node_of,
                         const std::vector<std::uint32_t>& order, const GroupViewInput& input,
                         ClusterState& cluster, Time now) {
  ReplayedPlan replayed;
  replayed.node_of = node_of;
  std::vector<std::uint32_t> assumed;
  for (const std::uint32_t i : order) {
    const Pod& pod = cluster.pod(view.pods[i])->pod;
    const Demand demand = input.history.demand(pod);
    const FilterInput question{pod, cluster, demand, input.options};
    const auto fits = [&](std::uint32_t node) {
      const NodeId id = view.nodes[node];
      return judge_with_nominated(question, cluster, id, input.nominations.on(id)).objections.empty();
    };
    std::uint32_t& place = replayed.node_of[i];
    if (place == kNowhere || refusal(question) || !fits(place)) {
      if (place != kNowhere) replayed.refused.push_back(i);
      place = kNowhere;
      std::vector<std::uint8_t> feasible(cluster.columns().present.begin(), cluster.columns().present.end());
      apply_filters(question, feasible);
      double least = std::numeric_limits<double>::infinity();
      for (std::uint32_t node = 0; node < view.nodes.size(); ++node) {
        if (!feasible[view.nodes[node].slot]) continue;
        const double cost = cost_at(view.problem, replayed.node_of, i, node);
        if (cost >= least || !fits(node)) continue;
        place = node;
        least = cost;
      }
      if (place == kNowhere) {
        if (replayed.why.empty()) replayed.why = pod.full_name() + ": " + unschedulable_message(question);
        continue;
      }
      ++replayed.repaired;
    }
    cluster.assume(view.pods[i], view.nodes[place], demand, now);
    assumed.push_back(i);
  }
  for (auto i = assumed.rbegin(); i != assumed.rend(); ++i) cluster.unassume(view.pods[*i]);
  return replayed;
}

}  // namespace evenkeel::scheduling
