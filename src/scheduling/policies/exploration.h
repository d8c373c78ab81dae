#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduling/policies/policy.h"

namespace evenkeel::scheduling {

// How far a policy that learns on a live cluster may try things out. The papers' own exploration, anywhere
// and for anybody, is for simulated worlds.
struct ExplorationLimits {
  double share = 0.02;  // of decisions
  double margin = 0.1;  // "close": within this share of the way from the rule's best node to its worst
  std::vector<std::string> never_namespaces{};
  std::optional<std::int32_t> never_at_priority{};  // and above
};

// Whether the pod may be a trial at all.
bool may_explore(const ExplorationLimits& limits, const Pod& pod);

// One flag for each node column: the nodes that a rule thinks nearly as well of as of its best one. All where
// it thinks the same of all; none where it rates none. Rows whose total is no number are never close.
std::vector<std::uint8_t> close_to_best(const ScoreSheet& rule, std::size_t columns, double margin);

// Says in a sheet that a node was chosen to learn from it: its row comes first, with what it was lifted by in
// a column of its own.
void mark_explored(ScoreSheet& sheet, NodeId node);

}  // namespace evenkeel::scheduling
