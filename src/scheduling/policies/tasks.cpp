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
  std::stable_sort(sheet.rows.begin(), sheet.rows.end(),
                   [](const auto& a, const auto& b) { return a.total > b.total; });
  return sheet;
}

std::size_t alike(const PlacementRequest& request, NodeId node) {
  const auto pods = request.cluster.pods_on(node);
  return static_cast<std::size_t>(std::count_if(pods.begin(), pods.end(), [&](PodId id) {
    return request.cluster.pod(id)->pod.shape->workload == request.pod.shape->workload;
  }));
}

// How many of the node's pods stand in the candidate's way.
double in_the_way(const PlacementRequest& request, NodeId node, const RunEstimates::Estimate& own) {
  double count = 0;
  for (const PodId id : request.cluster.pods_on(node)) {
    const PodRecord& record = *request.cluster.pod(id);
    bool outlasts = false;
    if (record.started && !own.probe) {
      const double elapsed = to_seconds(request.now - record.since);
      const RunEstimates::Estimate theirs = request.runs.of(record.pod, request.history, request.now);
      const double left = theirs.known ? std::max(theirs.seconds - elapsed, 0.1 * elapsed) : elapsed;
      outlasts = left > 2 * own.seconds;
    }
    if (!outlasts) ++count;
  }
  return count;
}

}  // namespace

void FewestTasks::rate(const PlacementRequest& request) {
  scores_.assign(request.feasible.size(), 0.0F);
  const auto& pods = request.cluster.columns().pods;
  for (std::uint32_t slot = 0; slot < scores_.size(); ++slot) {
    if (!request.feasible[slot]) continue;
    const float same = weight_of_alike_ > 0 ? static_cast<float>(alike(request, {slot})) + 0.5F : 0.0F;
    scores_[slot] =
        -(pods[slot] + 1 + weight_of_alike_ * same) / static_cast<float>(free_cores(request.cluster, {slot}));
  }
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
  const HoldBack& limit = request.options.hold_back;
  const NodeColumns& columns = request.cluster.columns();
  const RunEstimates::Estimate own = request.runs.of(request.pod, request.history, request.now);
  scores_.assign(request.feasible.size(), 0.0F);
  open_.assign(request.feasible.begin(), request.feasible.end());
  constexpr auto kMemory = static_cast<std::size_t>(Dimension::memory);
  const auto wanted = static_cast<float>(request.demand.mean.of[kMemory]);
  bool any = false;
  for (std::uint32_t slot = 0; slot < open_.size(); ++slot) {
    if (!open_[slot]) continue;
    const double cores = free_cores(request.cluster, {slot});
    const double pods = columns.pods[slot];
    const float memory = columns.utilization[kMemory][slot] + wanted * columns.per_unit[kMemory][slot];
    const bool crowded =
        pods >= std::ceil(cores) + limit.spare + 1 || in_the_way(request, {slot}, own) + 1 > std::ceil(cores);
    // The second of an unknown kind is a bet: only on a core that is idle anyway.
    const bool a_bet = !own.known && !own.probe && pods >= std::floor(cores);
    // An empty node takes what it can hold, ceiling or not: else a large pod waits for ever.
    if (crowded || a_bet || (memory > limit.memory_ceiling && pods > 0)) {
      open_[slot] = 0;
      continue;
    }
    any = true;
    scores_[slot] = static_cast<float>(-(pods + 1) / cores);
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
