#include <algorithm>

#include "scheduling/filters/filter.h"

namespace evenkeel::scheduling {

bool tolerates(std::span<const Toleration> tolerations, const Taint& taint) {
  return std::any_of(tolerations.begin(), tolerations.end(), [&](const Toleration& t) {
    if (t.effect && *t.effect != taint.effect) return false;
    if (!t.key.empty() && t.key != taint.key) return false;
    if (t.op == Toleration::Operator::exists) return true;
    return !t.key.empty() && t.value == taint.value;
  });
}

bool has_untolerated_taint(const PodSpec& spec, const Node& node) {
  return std::any_of(node.taints.begin(), node.taints.end(), [&](const Taint& taint) {
    return taint.effect != TaintEffect::prefer_no_schedule && !tolerates(spec.tolerations, taint);
  });
}

namespace {

bool untolerated(const FilterInput& input, NodeId node) {
  return has_untolerated_taint(input.pod.spec(), input.cluster.node(node));
}

bool matters(const FilterInput& input) { return input.cluster.columns().tainted_nodes > 0; }

void apply(const FilterInput& input, std::span<std::uint8_t> feasible) {
  const auto& tainted = input.cluster.columns().tainted;
  for (std::uint32_t slot = 0; slot < feasible.size(); ++slot)
    if (tainted[slot] && feasible[slot] && untolerated(input, {slot})) feasible[slot] = 0;
}

Verdict judge_node(const FilterInput& input, NodeId node) {
  if (!untolerated(input, node)) return {};
  return {{"node(s) had untolerated taint(s)"}, true};
}

}  // namespace

const Filter kTaintToleration = {"TaintToleration", matters, apply, judge_node};

}  // namespace evenkeel::scheduling
