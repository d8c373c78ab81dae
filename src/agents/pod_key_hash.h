#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cluster/agent_messages.h"

namespace evenkeel::agents {

// For looking up, never for walking: what is walked reaches decisions, and those must repeat themselves.
struct PodKeyHash {
  std::size_t operator()(const PodKey& key) const noexcept {
    std::uint64_t halves[2];
    std::memcpy(halves, key.bytes.data(), sizeof halves);
    const std::uint64_t mixed = (halves[0] ^ (halves[1] << 1)) * 0x9e3779b97f4a7c15ULL;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32));
  }
};

}  // namespace evenkeel::agents
