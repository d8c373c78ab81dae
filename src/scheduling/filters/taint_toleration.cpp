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

namespace {

bool untolerated(const FilterInput& input, NodeId node) {
  const auto& taints = input.cluster.node(node).taints;
  return std::any_of(taints.begin(), taints.end(), [&](const Taint& taint) {
    return taint.effect != TaintEffect::prefer_no_schedule && !tolerates(input.pod.spec().tolerations, taint);
  });
}

bool matters(const FilterInput& input) { return input.cluster.columns().tainted_nodes > 0; }

void apply(const FilterInput& input, std::span<std::uint8_t> feasible) {
  const auto& tainted = input.cluster.columns().tainted;
  for (std::uint32_t slot = 0; slot < feasible.size(); ++slot)
    if (tainted[slot] && feasible[slot] && untolerated(input, {slot})) feasible[slot] = 0;
}

std::vector<std::string> objections_of(const FilterInput& input, NodeId node) {
  if (!untolerated(input, node)) return {};
  return {"node(s) had untolerated taint(s)"};
}

}  // namespace

const Filter kTaintToleration = {"TaintToleration", matters, apply, objections_of};

}  // namespace evenkeel::scheduling
