#pragma once
#include "base/random.h"
#include "optimum/plan_problem.h"

namespace evenkeel::optimum {

enum class Objective {
  imbalance,           // DRS eq. 13 averaged over time, with a weight on demand above capacity
  imbalance_of_means,  // DRS eq. 13 of time-averaged utilisations, likewise
  mean_response,       // of finite tasks that start together: PPO-LRT's peak
};

struct AnnealingOptions {
  // How long to search: a slot of time looked at counts 1, so a run takes about as long whatever the problem.
  std::size_t effort = 60'000'000;
  std::size_t tries_per_pod = 5000;  // at most: small problems are solved long before
  std::size_t most_slots = 1024;     // of time; a longer future is sampled
};

// The assignment with the least cost that could be found, requests fitting at every moment. For references
// that see the future, and to know how far a rule is from what is possible.
//
// Starts from the greedy assignment in the order of arrival, then simulated annealing: one pod elsewhere, or
// two pods swapped; the temperature falls with the cube of the time left. Same problem and random, same plan.
Assignment annealed_plan(const PlanProblem& problem, Objective objective, Random random,
                         const AnnealingOptions& options = {});

}  // namespace evenkeel::optimum
