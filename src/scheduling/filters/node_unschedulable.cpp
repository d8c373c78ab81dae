#include "scheduling/filters/filter.h"

namespace evenkeel::scheduling {
namespace {

// A cordoned node counts as one with this taint, and may be tolerated like any other.
bool tolerates_cordon(const Pod& pod) {
  static const Taint kCordon{"node.kubernetes.io/unschedulable", "", TaintEffect::no_schedule};
  return tolerates(pod.spec().tolerations, kCordon);
}

bool matters(const FilterInput& input) {
  return input.cluster.columns().cordoned_nodes > 0 && !tolerates_cordon(input.pod);
}

void apply(const FilterInput& input, std::span<std::uint8_t> feasible) {
  const auto& cordoned = input.cluster.columns().cordoned;
  for (std::size_t i = 0; i < feasible.size(); ++i)
    feasible[i] = static_cast<std::uint8_t>(feasible[i] & !cordoned[i]);
}

Verdict judge_node(const FilterInput& input, NodeId node) {
  if (!input.cluster.node(node).unschedulable) return {};
  return {{"node(s) were unschedulable"}, true};
}

}  // namespace

const Filter kNodeUnschedulable = {"NodeUnschedulable", matters, apply, judge_node};

}  // namespace evenkeel::scheduling
