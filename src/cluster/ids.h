#pragma once
#include <compare>
#include <cstdint>
#include <functional>

namespace evenkeel {

// Handles, not names: a World hands them out when it introduces an object, so that
// the hot path indexes arrays instead of hashing strings. Names live in the objects.
//
// A pod's slot is reused once the pod is gone; the generation tells the two apart,
// so a late report about a dead pod can never be taken for its successor.
struct PodId {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  auto operator<=>(const PodId&) const = default;
};

// Dense and small. A World may give it to another node only after it has reported NodeRemoved, and once every
// pod that ran there, or was being bound there, has been reported gone, failed or elsewhere.
struct NodeId {
  std::uint32_t slot = 0;
  auto operator<=>(const NodeId&) const = default;
};

// Pods that behave alike: same controller, same image. What history is kept by.
struct WorkloadId {
  std::uint32_t slot = 0;
  auto operator<=>(const WorkloadId&) const = default;
};

}  // namespace evenkeel

template <>
struct std::hash<evenkeel::PodId> {
  std::size_t operator()(evenkeel::PodId id) const noexcept {
    return std::hash<std::uint64_t>{}(std::uint64_t{id.generation} << 32 | id.slot);
  }
};
