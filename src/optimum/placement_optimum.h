// The best placement there is, or how far from it the best that was found can be at most.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/mixed_program.h"
#include "scheduling/group_problem.h"

namespace evenkeel::optimum {

struct OptimumOptions {
  double seconds = 60;                 // for both objectives together
  std::vector<std::uint32_t> start{};  // a node for each pod, to begin with; empty: none
  std::function<void(const MixedProgress&)> progress{};
};

struct PlacementOptimum {
  scheduling::GroupPlan plan;
  std::uint32_t applications = 0;   // with pods that waited
  std::uint32_t accepted = 0;       // all of their pods are placed: eq. 11
  std::uint32_t most_accepted = 0;  // what could not be ruled out in the time; `accepted` where it is proven
  double bound = 0;                 // no plan that accepts as many has a lower objective: eq. 12, 13
  bool proven = false;              // of both objectives
  bool started = false;             // from the plan that was given, or a better one
  double seconds = 0;               // in the solver
  std::int64_t branches = 0;
  std::uint32_t columns = 0, rows = 0;

  // Of the objective, 0 where it is proven; infinite where nothing is known.
  double gap() const;
};

// `application`: of each pod, from 0; empty: all of one. The solver is asked at most twice (eq. 11, then eq.
// 12), and what it answers is checked against the problem before it is believed.
Result<PlacementOptimum> find_optimum(const scheduling::GroupProblem& problem,
                                      std::span<const std::uint32_t> application, const MixedSolver& solve,
                                      const OptimumOptions& options = {});

}  // namespace evenkeel::optimum
