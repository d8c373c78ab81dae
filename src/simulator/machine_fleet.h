#pragma once
#include <memory>
#include <string>
#include <vector>

#include "simulator/machine_trace.h"
#include "simulator/world_plan.h"

namespace evenkeel::simulator {

// Machines made ready to be placed: what each used before the world begins, and what it will do.
// Costly to make and the same for every seed, hence shared.
struct Fleet {
  struct Member {
    std::string id;
    double cpu = 0, memory = 0;                  // capacities, as in MachineTrace
    std::vector<Usage> history;                  // a slot each
    std::shared_ptr<const Behaviour> behaviour;  // endless, from the first slot after the history
  };
  std::vector<Member> members;
  std::size_t slots = 0;      // after the history
  Usage together;             // most that all use at one time
  Usage apart;                // sum of what each uses at most
  double large_cpu_peak = 0;  // the 95th percentile of what each uses at most
};

Fleet make_fleet(std::vector<MachineTrace> machines, std::size_t history_slots);

// What each of so many equal nodes can do. CPU and memory: the whole fleet's peak is 80 % of them,
// but no node is so small that a large machine's peak is more than 70 % of its CPU. Disk and network,
// which burst at different times: the sum of the peaks is 80 %. It is the world's size and knows the
// whole trace; a policy sees only what comes out.
Usage node_capacity(const Fleet& fleet, std::int64_t nodes);

// What a machine asks for, as a share of a node's CPU and memory.
enum class MachineRequests {
  equal,   // all the same, as a default for the namespace would give
  scaled,  // in proportion to capacity
};
struct RequestShare {
  double cpu = 0, memory = 0;
};
// In sum 80 % of all nodes (equal ones 40 %, so that they never bind); none above half a node.
std::vector<RequestShare> request_shares(const Fleet& fleet, std::int64_t nodes, MachineRequests how);

}  // namespace evenkeel::simulator
