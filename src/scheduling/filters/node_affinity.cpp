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
