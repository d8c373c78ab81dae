// A group of pods placed together: as many as can be, then with the least latency and bias that could be
// found within a budget.
//
// Assumes: a few hundred pods at most, any number of nodes; every cost is finite; what others do meanwhile is
// not known. A pod's request and its rules are hard: resources, allowed, apart, max_cost, bandwidth.
//
// Starts are grown, the pod with the heaviest connections to what is placed first, each to its cheapest node;
// the best is annealed: one pod elsewhere, two swapped, a chain that ends where there is room, a part of the
// group to another zone. The same problem, options and start give the same plan; no clock is read: a budget
// counts looks at moves, whose number per millisecond is near enough the same for every problem.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "scheduling/group_problem.h"

namespace evenkeel::scheduling {

struct GroupPlanOptions {
  std::uint64_t budget = kTenMilliseconds;
  std::uint64_t seed = 1;

  // What one core of 2020 or later looks at in that time.
  static constexpr std::uint64_t kTenMilliseconds = 900'000, kHundredMilliseconds = 9'000'000;
};

GroupPlan plan_group(const GroupProblem& problem, const GroupPlanOptions& options = {});
// From where pods are meant to be already (kNowhere: no place yet), as far as that is possible: the plan is
// no worse than what is left of it.
GroupPlan replan_group(const GroupProblem& problem, const std::vector<std::uint32_t>& start,
                       const GroupPlanOptions& options = {});

// The plan that these places are, added up anew.
GroupPlan plan_of(const GroupProblem& problem, std::vector<std::uint32_t> node_of);
// What the places break, in words; empty: nothing. Fixed pods alone break nothing: they are there.
std::string broken_rule(const GroupProblem& problem, const std::vector<std::uint32_t>& node_of);

}  // namespace evenkeel::scheduling
