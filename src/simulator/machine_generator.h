#pragma once
#include <vector>

#include "base/random.h"
#include "simulator/machine_trace.h"

namespace evenkeel::simulator {

inline constexpr std::size_t kGeneratedSlotsPerDay = 288;  // five minutes each

// Machines of our own, with the traits that make a rented data centre hard to balance:
//   - most are idle most of the time: mean CPU a few per cent of what they may use, log-normal over
//     machines, with spikes, a daily job for some, daylight for a third;
//   - one in eleven is a compute server (8 x 2.6 GHz) that is idle or at its limit. They work in
//     campaigns, many at once, so demands are correlated and yesterday says little about today: a
//     third of them barely shows up on the first day, when a history would be taken;
//   - disk and network are mostly near zero with rare bursts; a few machines are stores that are not.
// All of it is drawn from `random`: the same random, the same machines.
std::vector<MachineTrace> generate_machines(std::size_t count, std::size_t slots, const Random& random);

}  // namespace evenkeel::simulator
