#include "simulator/contention.h"

#include <algorithm>

namespace evenkeel::simulator {

Usage divide(const Usage& capacity, const Usage& base, std::span<Claim> claims) {
  Usage wanted;
  for (const Claim& claim : claims) wanted += claim.demand;
  Usage share;
  bool scarce = false;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const double left = std::max(0.0, capacity.of[d] - base.of[d]);
    // A capacity of nothing means that the dimension is not modelled on this node.
    const bool unlimited = d == static_cast<std::size_t>(Dimension::memory) || capacity.of[d] <= 0;
    const bool enough = unlimited || wanted.of[d] <= left;
    share.of[d] = enough ? 1.0 : left / wanted.of[d];
    scarce = scarce || !enough;
  }
  if (!scarce) {
    for (Claim& claim : claims) claim.speed = 1;
    return base + wanted;
  }
  Usage used = base;
  for (Claim& claim : claims) {
    claim.speed = 1;
    for (std::size_t d = 0; d < kDimensions; ++d)
      if (claim.demand.of[d] > 0) claim.speed = std::min(claim.speed, share.of[d]);
    Usage given = claim.demand * claim.speed;
    given[Dimension::memory] = claim.demand[Dimension::memory];
    used += given;
  }
  return used;
}

}  // namespace evenkeel::simulator
