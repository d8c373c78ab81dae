#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "optimum/annealed_plan.h"
#include "scheduling/options.h"
#include "simulator/world_plan.h"

namespace evenkeel::training {

// What a world is about: response where more comes at once than can be done, and ends by itself; else
// imbalance.
optimum::Objective natural_objective(const simulator::WorldPlan& world);

// The world as the optimiser sees it: every arrival, demand, life and fault known, contention ignored.
// Lends the world's series, so the world must outlive it.
optimum::PlanProblem plan_problem_of(const simulator::WorldPlan& world,
                                     const scheduling::SchedulingOptions& options,
                                     optimum::Objective objective);

// Where each pod, by name, had best go. A pod that would have to wait for room is not in it.
std::vector<std::pair<std::string, NodeId>> clairvoyant_plan(const simulator::WorldPlan& world,
                                                             const scheduling::SchedulingOptions& options,
                                                             optimum::Objective objective,
                                                             std::uint64_t seed);

}  // namespace evenkeel::training
