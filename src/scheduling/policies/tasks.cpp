#include "scheduling/policies/tasks.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::scheduling {
namespace {

double free_cores(const ClusterState& cluster, NodeId node) {
  const double cores = cluster.node(node).capacity[Dimension::cpu];
  return std::max(0.05, cores - cluster.base_load(node)[Dimension::cpu]);
}

ScoreSheet sheet_of(const PlacementRequest& request, std::string term, std::span<const float> scores,
                    std::span<const std::uint8_t> open) {
  ScoreSheet sheet{{std::move(term)}, {}};
  for (std::uint32_t slot = 0; slot < request.feasible.size(); ++slot)
    if (open[slot]) sheet.rows.push_back({{slot}, {scores[slot]}, scores[slot]});
  sheet.put_best_first();
  return sheet;
}

// How many of the node's pods stand in the candidate's way.
double in_the_way(const PlacementRequest& request, NodeId node, const RunEstimates::Estimate& own) {
  double count = 0;
  for (const PodId id : request.cluster.pods_on(node)) {
    const PodRecord& record = *request.cluster.pod(id);
    bool outlasts = false;
    if (record.started && !own.probe) {
      const double elapsed = to_seconds(request.now - record.since);
      // Run times differ by orders of magnitude: what has run for long and is not done runs far longer.
      const RunEstimates::Estimate theirs = request.runs.of(record.pod, request.history, request.now);
      const double left = theirs.known ? std::max(theirs.seconds - elapsed, 0.1 * elapsed) : 2 * elapsed;
      outlasts = left > 2 * own.seconds;
    }
    if (!outlasts) ++count;
  }
  return count;
}

bool way_is_free(const PlacementRequest& request, NodeId node, const RunEstimates::Estimate& own) {
  return in_the_way(request, node, own) + 1 <= std::ceil(free_cores(request.cluster, node));
}

// Whether any pod of another workload has a node.
bool others_run(const PlacementRequest& request) {
  const WorkloadId own = request.pod.shape->workload;
  for (std::uint32_t slot = 0; slot < request.feasible.size(); ++slot)
    for (const PodId id : request.cluster.pods_on({slot}))
      if (request.cluster.pod(id)->pod.shape->workload != own) return true;
  return false;
}

// Scores of the nodes that have room for one more, by pods per free core; `order` names the best of them,
// best first. Few: who stands in the way is asked of those alone, as looking at all pods of a large cluster
// would cost more than the choice among its best is worth.
void rate_nodes_with_room(const PlacementRequest& request, const RunEstimates::Estimate& own,
                          std::vector<float>& scores, std::vector<std::uint32_t>& order) {
  constexpr std::size_t kLooks = 64;
  constexpr double kQuick = 5;  // seconds
  constexpr auto kMemory = static_cast<std::size_t>(Dimension::memory);
  const HoldBack& limit = request.options.hold_back;
  const NodeColumns& columns = request.cluster.columns();
  scores.assign(request.feasible.size(), 0.0F);
  order.clear();
  const auto wanted = static_cast<float>(request.demand.mean.of[kMemory]);
  const bool unknown = !own.known && !own.probe;
  // Where several kinds are being tried, the quick ones show soon, and a bet placed before that is as likely
  // on one of the slow, which keeps its core for long.
  const bool too_early = unknown && own.seconds < 2 * kQuick && others_run(request);
  for (std::uint32_t slot = 0; slot < scores.size(); ++slot) {
    if (!request.feasible[slot]) continue;
    const double cores = free_cores(request.cluster, {slot});
    const double pods = columns.pods[slot];
    const float memory = columns.utilization[kMemory][slot] + wanted * columns.per_unit[kMemory][slot];
    const bool crowded = pods >= std::ceil(cores) + limit.spare + 1;
    // The second of an unknown kind is a bet: only on a core that is idle anyway.
    const bool a_bet = unknown && (too_early || pods >= std::floor(cores));
    // An empty node takes what it can hold, ceiling or not: else a large pod waits for ever.
    if (crowded || a_bet || (memory > limit.memory_ceiling && pods > 0)) continue;
    scores[slot] = static_cast<float>(-(pods + 1) / cores);
    order.push_back(slot);
  }
  const std::size_t few = std::min(order.size(), kLooks);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(few), order.end(),
                    [&](std::uint32_t a, std::uint32_t b) {
                      return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
                    });
  order.resize(few);
}

}  // namespace

void FewestTasks::rate(const PlacementRequest& request) {
  const auto& pods = request.cluster.columns().pods;
  scores_.assign(pods.begin(), pods.end());
  for (const auto& [slot, count] : request.cluster.replicas(request.pod.shape->workload))
    scores_[slot] += weight_of_alike_ * static_cast<float>(count);
  const float own = 1 + 0.5F * weight_of_alike_;
  for (std::uint32_t slot = 0; slot < scores_.size(); ++slot)
    if (request.feasible[slot])
      scores_[slot] = -(scores_[slot] + own) / static_cast<float>(free_cores(request.cluster, {slot}));
}

std::optional<NodeId> FewestTasks::choose(const PlacementRequest& request, Random& random) {
  rate(request);
  return pick_highest(scores_, request.feasible, random);
}

ScoreSheet FewestTasks::explain(const PlacementRequest& request) {
  rate(request);
  return sheet_of(request, "minus tasks per free core", scores_, request.feasible);
}

bool ShortestFirst::rate(const PlacementRequest& request) {
  const RunEstimates::Estimate own = request.runs.of(request.pod, request.history, request.now);
  rate_nodes_with_room(request, own, scores_, order_);
  open_.assign(request.feasible.size(), 0);
  bool any = false;
  float best = 0;
  for (std::size_t i = 0; i < order_.size() && (!any || scores_[order_[i]] == best); ++i) {
    const NodeId node{order_[i]};
    if (!way_is_free(request, node, own)) continue;
    open_[node.slot] = 1;
    best = scores_[node.slot];
    any = true;
  }
  return any;
}

bool find_open_nodes(const PlacementRequest& request, std::vector<std::uint8_t>& open) {
  const RunEstimates::Estimate own = request.runs.of(request.pod, request.history, request.now);
  std::vector<float> scores;
  std::vector<std::uint32_t> order;
  rate_nodes_with_room(request, own, scores, order);
  open.assign(request.feasible.size(), 0);
  bool any = false;
  for (const std::uint32_t slot : order) {
    open[slot] = way_is_free(request, {slot}, own) ? 1 : 0;
    any = any || open[slot] != 0;
  }
  return any;
}

std::optional<NodeId> ShortestFirst::choose(const PlacementRequest& request, Random& random) {
  if (!rate(request)) return std::nullopt;
  return pick_highest(scores_, open_, random);
}

ScoreSheet ShortestFirst::explain(const PlacementRequest& request) {
  rate(request);
  return sheet_of(request, "minus tasks per free core", scores_, open_);
}

}  // namespace evenkeel::scheduling
