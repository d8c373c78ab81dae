#include <algorithm>

#include "scheduling/filters/filter.h"

namespace evenkeel::scheduling {
namespace {

bool matters(const FilterInput& input) {
  return !input.pod.shape->plain && !required_features(input.pod.spec()).empty();
}

bool declares_all(const FilterInput& input, NodeId node) {
  const auto wanted = required_features(input.pod.spec());
  const auto& declared = input.cluster.node(node).declared_features;
  return std::all_of(wanted.begin(), wanted.end(), [&](std::string_view feature) {
    return std::find(declared.begin(), declared.end(), feature) != declared.end();
  });
}

void apply(const FilterInput& input, std::span<std::uint8_t> feasible) {
  for (std::uint32_t slot = 0; slot < feasible.size(); ++slot)
    if (feasible[slot] && !declares_all(input, {slot})) feasible[slot] = 0;
}

Verdict judge_node(const FilterInput& input, NodeId node) {
  if (declares_all(input, node)) return {};
  return {{"node(s) didn't match Pod's required features"}, true};
}

}  // namespace

const Filter kNodeDeclaredFeatures = {"NodeDeclaredFeatures", matters, apply, judge_node};

}  // namespace evenkeel::scheduling
