#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "prediction/workload_history.h"
#include "scheduling/policies/registry.h"
#include "scheduling/scheduler.h"
#include "simulator/simulated_world.h"

namespace evenkeel::training {

// A policy ready for one run in one world; references have been shown its future.
struct PreparedPolicy {
  scheduling::PolicySetup setup;
  std::unique_ptr<prediction::Foresight> foresight;

  // Lets the foresight see the world it is about.
  void attach(const simulator::SimulatedWorld& world, scheduling::Scheduler& scheduler);
};

// References besides the policies of scheduling/policies/registry.h:
//   clairvoyant            the whole assignment annealed with every arrival, demand and life known, for what
//                          the world is about: mean response where tasks come at once, else imbalance
//   clairvoyant-means      the same for imbalance_of_means
//   clairvoyant-response   the same for mean response
//   horizon-known          `horizon` told how long each pod will run
//   shortest-first-known   `shortest-first` told the same
//   optimum                application groups where the solver, or a long search, would have them; the plan
//   is
//                          given by who evaluates (evaluation.cpp), since it is also what others are measured
//                          by
std::vector<std::string_view> reference_names();
bool is_reference(std::string_view policy);
Status check_policy(std::string_view policy, const scheduling::SchedulingOptions& options,
                    const scheduling::PolicyModels& models = {});
PreparedPolicy prepare_policy(std::string_view policy, const scheduling::SchedulingOptions& options,
                              const simulator::WorldPlan& plan, std::uint64_t seed,
                              const scheduling::PolicyModels& models = {});

}  // namespace evenkeel::training
