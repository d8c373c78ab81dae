#include "scheduling/filters/filter.h"

namespace evenkeel::scheduling {
namespace {

bool matters(const FilterInput& input) {
  return !input.pod.shape->plain && !input.pod.spec().node_name.empty();
}

void apply(const FilterInput& input, std::span<std::uint8_t> feasible) {
  for (std::uint32_t slot = 0; slot < feasible.size(); ++slot)
    if (feasible[slot] && input.cluster.node({slot}).name != input.pod.spec().node_name) feasible[slot] = 0;
}

Verdict judge_node(const FilterInput& input, NodeId node) {
  if (input.cluster.node(node).name == input.pod.spec().node_name) return {};
  return {{"node(s) didn't match the requested node name"}, true};
}

}  // namespace

const Filter kNodeName = {"NodeName", matters, apply, judge_node};

}  // namespace evenkeel::scheduling
