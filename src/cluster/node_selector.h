#pragma once
#include <vector>

#include "cluster/labels.h"

namespace evenkeel {

struct Node;

// Expressions must all hold. A term without any selects nothing.
struct NodeSelectorTerm {
  std::vector<SelectorRequirement> expressions;
  std::vector<SelectorRequirement> fields;  // metadata.name only
  bool operator==(const NodeSelectorTerm&) const = default;
};

bool term_matches(const NodeSelectorTerm& term, const Node& node);
bool any_term_matches(const std::vector<NodeSelectorTerm>& terms, const Node& node);

}  // namespace evenkeel
