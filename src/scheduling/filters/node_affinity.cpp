#include <algorithm>

#include "scheduling/filters/filter.h"

namespace evenkeel::scheduling {

bool term_matches(const NodeSelectorTerm& term, const Node& node) {
  if (term.expressions.empty() && term.fields.empty()) return false;
  const auto holds = [&](const SelectorRequirement& r) { return matches(r, node.labels); };
  if (!std::all_of(term.expressions.begin(), term.expressions.end(), holds)) return false;
  const Labels fields{{"metadata.name", node.name}};
  return std::all_of(term.fields.begin(), term.fields.end(),
                     [&](const SelectorRequirement& r) { return matches(r, fields); });
}

bool selects(const PodSpec& spec, const Node& node) {
  for (const Label& wanted : spec.node_selector.all()) {
    const std::string* found = node.labels.find(wanted.key);
    if (!found || *found != wanted.value) return false;
  }
  if (!spec.node_affinity.required) return true;
  const auto& terms = *spec.node_affinity.required;
  return std::any_of(terms.begin(), terms.end(), [&](const auto& term) { return term_matches(term, node); });
}

namespace {

bool matters(const FilterInput& input) {
  if (input.pod.shape->plain) return false;
  const PodSpec& spec = input.pod.spec();
  return !spec.node_selector.all().empty() || spec.node_affinity.required.has_value();
}

void apply(const FilterInput& input, std::span<std::uint8_t> feasible) {
  for (std::uint32_t slot = 0; slot < feasible.size(); ++slot)
    if (feasible[slot] && !selects(input.pod.spec(), input.cluster.node({slot}))) feasible[slot] = 0;
}

std::vector<std::string> objections_of(const FilterInput& input, NodeId node) {
  if (selects(input.pod.spec(), input.cluster.node(node))) return {};
  return {"node(s) didn't match Pod's node affinity/selector"};
}

}  // namespace

const Filter kNodeAffinity = {"NodeAffinity", matters, apply, objections_of};

}  // namespace evenkeel::scheduling
