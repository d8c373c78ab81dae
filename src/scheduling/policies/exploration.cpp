#include "scheduling/policies/exploration.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::scheduling {

bool may_explore(const ExplorationLimits& limits, const Pod& pod) {
  if (limits.share <= 0) return false;
  if (limits.never_at_priority && pod.spec().priority >= *limits.never_at_priority) return false;
  const std::vector<std::string>& spared = limits.never_namespaces;
  return std::find(spared.begin(), spared.end(), pod.shape->name_space) == spared.end();
}

std::vector<std::uint8_t> close_to_best(const ScoreSheet& rule, std::size_t columns, double margin) {
  std::vector<std::uint8_t> close(columns, 0);
  double best = 0, worst = 0;
  bool any = false;
  for (const ScoreSheet::Row& row : rule.rows) {
    if (!std::isfinite(row.total)) continue;
    best = any ? std::max(best, row.total) : row.total;
    worst = any ? std::min(worst, row.total) : row.total;
    any = true;
  }
  const double least = best - margin * (best - worst);
  for (const ScoreSheet::Row& row : rule.rows)
    if (std::isfinite(row.total) && row.total >= least && row.node.slot < columns) close[row.node.slot] = 1;
  return close;
}

void mark_explored(ScoreSheet& sheet, NodeId node) {
  const auto chosen = std::find_if(sheet.rows.begin(), sheet.rows.end(),
                                   [&](const ScoreSheet::Row& row) { return row.node == node; });
  if (chosen == sheet.rows.end()) return;
  sheet.terms.emplace_back("explored");
  if (!sheet.weights.empty()) sheet.weights.push_back(1);
  const double lift = sheet.rows.front().total - chosen->total;
  for (ScoreSheet::Row& row : sheet.rows) row.parts.push_back(row.node == node ? lift : 0);
  chosen->total += lift;
  std::rotate(sheet.rows.begin(), chosen, chosen + 1);
}

}  // namespace evenkeel::scheduling
