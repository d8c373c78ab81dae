#include "scheduling/policies/simple.h"

#include <algorithm>

#include "base/check.h"
#include "scheduling/policies/weighted_scores.h"

namespace evenkeel::scheduling {
namespace {

ScoreSheet one_term(const PlacementRequest& request, std::string term, auto score) {
  ScoreSheet sheet{{std::move(term)}, {}};
  for (std::uint32_t slot = 0; slot < request.feasible.size(); ++slot) {
    if (!request.feasible[slot]) continue;
    const double value = score(slot);
    sheet.rows.push_back({{slot}, {value}, value});
  }
  sheet.put_best_first();
  return sheet;
}

}  // namespace

std::optional<NodeId> RandomChoice::choose(const PlacementRequest& request, Random& random) {
  std::uint64_t skip = random.below(request.feasible_count);
  for (std::uint32_t slot = 0;; ++slot)
    if (request.feasible[slot] && skip-- == 0) return NodeId{slot};
}

ScoreSheet RandomChoice::explain(const PlacementRequest& request) {
  return one_term(request, "drawn by lot", [](std::uint32_t) { return 0.0; });
}

std::uint32_t RoundRobin::next(const PlacementRequest& request) const {
  const auto n = static_cast<std::uint32_t>(request.feasible.size());
  for (std::uint32_t step = 0; step < n; ++step)
    if (const std::uint32_t slot = (next_slot_ + step) % n; request.feasible[slot]) return slot;
  EVENKEEL_CHECK(false);
  return 0;
}

std::optional<NodeId> RoundRobin::choose(const PlacementRequest& request, Random&) {
  const std::uint32_t slot = next(request);
  next_slot_ = slot + 1;
  return NodeId{slot};
}

ScoreSheet RoundRobin::explain(const PlacementRequest& request) {
  const std::uint32_t chosen = next(request);
  return one_term(request, "next in turn", [&](std::uint32_t slot) { return slot == chosen ? 1.0 : 0.0; });
}

PlannedPlacement::PlannedPlacement(std::vector<std::pair<std::string, NodeId>> plan)
    : plan_(std::move(plan)), otherwise_(std::make_unique<WeightedScores>()) {
  std::sort(plan_.begin(), plan_.end());
}

const NodeId* PlannedPlacement::find(const PlacementRequest& request) const {
  const auto at =
      std::lower_bound(plan_.begin(), plan_.end(), request.pod.name,
                       [](const auto& entry, const std::string& name) { return entry.first < name; });
  return at == plan_.end() || at->first != request.pod.name ? nullptr : &at->second;
}

const NodeId* PlannedPlacement::planned(const PlacementRequest& request) const {
  const NodeId* node = find(request);
  return node && node->slot < request.feasible.size() && request.feasible[node->slot] ? node : nullptr;
}

std::optional<NodeId> PlannedPlacement::choose(const PlacementRequest& request, Random& random) {
  if (const NodeId* node = planned(request)) return *node;
  if (const NodeId* node = find(request); node && *node == kNowhere) return std::nullopt;
  return otherwise_->choose(request, random);
}

ScoreSheet PlannedPlacement::explain(const PlacementRequest& request) {
  const NodeId* node = planned(request);
  if (!node) return otherwise_->explain(request);
  return one_term(request, "planned with the future known",
                  [&](std::uint32_t slot) { return slot == node->slot ? 1.0 : 0.0; });
}

}  // namespace evenkeel::scheduling
