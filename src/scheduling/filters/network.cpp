// NetworkOverhead and its half NodeNetworkCostFit (the paper's name), as upstream has them; and NetworkFit,
// ours.
#include "scheduling/filters/prepared.h"

namespace evenkeel::scheduling {
namespace {

bool matters(const FilterInput& input) { return !input.pod.shape->app_group.empty(); }

void apply_overhead(const FilterInput& input, std::span<std::uint8_t> feasible) {
  prepared(input).overhead(input).clear_unfit(feasible);
}
Verdict judge_overhead(const FilterInput& input, NodeId node) {
  return prepared(input).overhead(input).judge(node);
}

void apply_fit(const FilterInput& input, std::span<std::uint8_t> feasible) {
  prepared(input).network(input).clear_unfit(feasible);
}
Verdict judge_fit(const FilterInput& input, NodeId node) {
  return prepared(input).network(input).judge(node);
}

}  // namespace

const Filter kNetworkOverhead = {"NetworkOverhead", matters, apply_overhead, judge_overhead, nullptr, false};
const Filter kNodeNetworkCostFit = {"NodeNetworkCostFit", matters, apply_overhead,
                                    judge_overhead,       nullptr, false};
const Filter kNetworkFit = {"NetworkFit", matters, apply_fit, judge_fit, nullptr, false};

}  // namespace evenkeel::scheduling
