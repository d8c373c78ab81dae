#include "cluster/node_selector.h"

#include <algorithm>

#include "cluster/node.h"

namespace evenkeel {

bool term_matches(const NodeSelectorTerm& term, const Node& node) {
  if (term.expressions.empty() && term.fields.empty()) return false;
  const auto holds = [&](const SelectorRequirement& r) { return matches(r, node.labels); };
  if (!std::all_of(term.expressions.begin(), term.expressions.end(), holds)) return false;
  return std::all_of(term.fields.begin(), term.fields.end(), [&](const SelectorRequirement& r) {
    return matches(r, r.key == "metadata.name" ? &node.name : nullptr);
  });
}

bool any_term_matches(const std::vector<NodeSelectorTerm>& terms, const Node& node) {
  return std::any_of(terms.begin(), terms.end(), [&](const auto& term) { return term_matches(term, node); });
}

}  // namespace evenkeel
