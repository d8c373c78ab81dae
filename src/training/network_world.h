#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "scheduling/group_problem.h"
#include "simulator/simulated_world.h"

namespace evenkeel::training {

// All groups of a world as one problem, everything known: what the references solve, and what every policy's
// placement is judged by.
struct NetworkWorld {
  scheduling::GroupProblem problem;
  std::vector<std::uint32_t> plans;  // of each pod: its place in WorldPlan::pods
  std::vector<std::uint32_t> group;  // of each pod
  std::uint32_t groups = 0;
  double unit_ms = 1;
};

bool has_network(const simulator::WorldPlan& plan);
NetworkWorld network_world(const simulator::WorldPlan& plan);

struct NetworkJudgement {
  double latency_ms = 0;           // eq. 8 over all groups: pairs of replicas of which both are placed
  std::uint32_t placed = 0;        // pods
  std::uint32_t applications = 0;  // with all of their pods
  std::uint32_t over_booked = 0;   // links and nodes that carry more than they can (eq. 5)
};
// `node_of`: of each pod of the problem, kNowhere where it found none.
NetworkJudgement judge(const NetworkWorld& world, std::span<const std::uint32_t> node_of);

// Where a world that was run has them.
std::vector<std::uint32_t> nodes_of(const NetworkWorld& world, const simulator::WorldPlan& plan,
                                    const simulator::SimulatedWorld& run);

}  // namespace evenkeel::training
