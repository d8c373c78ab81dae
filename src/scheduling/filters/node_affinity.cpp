#include <algorithm>

#include "scheduling/filters/filter.h"

namespace evenkeel::scheduling {

bool selects(const PodSpec& spec, const Node& node) {
  for (const Label& wanted : spec.node_selector.all()) {
    const std::string* found = node.labels.find(wanted.key);
    if (!found || *found != wanted.value) return false;
  }
  if (!spec.node_affinity.required) return true;
  return any_term_matches(*spec.node_affinity.required, node);
}

std::optional<std::vector<std::string>> named_nodes(const PodSpec& spec) {
  if (!spec.node_affinity.required || spec.node_affinity.required->empty()) return std::nullopt;
  std::vector<std::string> names;
  for (const NodeSelectorTerm& term : *spec.node_affinity.required) {
    std::optional<std::vector<std::string>> of_term;
    for (const SelectorRequirement& field : term.fields) {
      if (field.key != "metadata.name" || field.op != SelectorOperator::in) continue;
      if (!of_term) {
        of_term = field.values;
      } else {
        std::erase_if(*of_term, [&](const std::string& name) {
          return std::find(field.values.begin(), field.values.end(), name) == field.values.end();
        });
      }
    }
    if (!of_term) return std::nullopt;  // any of the terms will do, and this one names no node
    names.insert(names.end(), of_term->begin(), of_term->end());
  }
  return names;
}

namespace {

const std::optional<std::vector<NodeSelectorTerm>>& added(const FilterInput& input) {
  static const std::optional<std::vector<NodeSelectorTerm>> kNone;
  const auto& affinity = input.options.profile.added_affinity;
  return affinity ? affinity->required : kNone;
}

bool matters(const FilterInput& input) {
  if (added(input)) return true;
  if (input.pod.shape->plain) return false;
  const PodSpec& spec = input.pod.spec();
  return !spec.node_selector.all().empty() || spec.node_affinity.required.has_value();
}

Verdict judge_node(const FilterInput& input, NodeId id) {
  const Node& node = input.cluster.node(id);
  if (added(input) && !any_term_matches(*added(input), node))
    return {{"node(s) didn't match scheduler-enforced node affinity"}, true};
  if (!selects(input.pod.spec(), node)) return {{"node(s) didn't match Pod's node affinity/selector"}, true};
  return {};
}

void keep(const FilterInput& input, const NodeQuery& query, std::span<std::uint8_t> feasible) {
  const std::span<const std::uint8_t> meant = input.cluster.nodes_meant(query);
  for (std::size_t slot = 0; slot < feasible.size(); ++slot) feasible[slot] &= meant[slot];
}

void apply(const FilterInput& input, std::span<std::uint8_t> feasible) {
  if (const auto& more = added(input)) keep(input, {{}, *more, false}, feasible);
  const PodSpec& spec = input.pod.spec();
  const auto& required = spec.node_affinity.required;
  if (!required && spec.node_selector.all().empty()) return;
  keep(input, {spec.node_selector, required ? *required : std::vector<NodeSelectorTerm>{}, !required},
       feasible);
}

std::optional<Refusal> refuse(const FilterInput& input) {
  const auto names = named_nodes(input.pod.spec());
  if (!names || !names->empty()) return std::nullopt;
  return Refusal{"NodeAffinity", "pod affinity terms conflict"};
}

}  // namespace

const Filter kNodeAffinity = {"NodeAffinity", matters, apply, judge_node, refuse};

}  // namespace evenkeel::scheduling
