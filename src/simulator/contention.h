#pragma once
#include <span>

#include "cluster/usage.h"

namespace evenkeel::simulator {

// One pod's part in a node: what it wants, and what comes of it.
struct Claim {
  Usage demand;
  double speed = 1;  // 0..1: the least of its shares
};

// Divides what the base load leaves of a node among its pods: in proportion to demand
// where there is too little. A pod is as fast as its scarcest resource lets it be, and
// takes no more of the others than that. Memory is not divided: see oom_victim.
// Returns what the node then uses.
Usage divide(const Usage& capacity, const Usage& base, std::span<Claim> claims);

}  // namespace evenkeel::simulator
