#pragma once
#include <array>
#include <cstddef>
#include <string_view>

namespace evenkeel {

// The six things a node can run out of (DRS eq. 8).
enum class Dimension : std::size_t { cpu, memory, receive, transmit, read, write };
inline constexpr std::size_t kDimensions = 6;
inline constexpr std::array<std::string_view, kDimensions> kDimensionNames = {"cpu",      "memory", "receive",
                                                                              "transmit", "read",   "write"};

// Which of the six somebody measured: not every source knows all.
using KnownDimensions = std::array<bool, kDimensions>;
inline constexpr KnownDimensions kAllKnown = {true, true, true, true, true, true};

// An amount in each dimension: cores, bytes, and bytes per second. What a node has,
// what a pod wants or what either was seen to use. Rates are measured, not granted,
// so they are real numbers where requests (resources.h) are exact integers.
struct Usage {
  std::array<double, kDimensions> of{};

  double& operator[](Dimension d) { return of[static_cast<std::size_t>(d)]; }
  double operator[](Dimension d) const { return of[static_cast<std::size_t>(d)]; }

  Usage& operator+=(const Usage& other) {
    for (std::size_t d = 0; d < kDimensions; ++d) of[d] += other.of[d];
    return *this;
  }
  Usage& operator-=(const Usage& other) {
    for (std::size_t d = 0; d < kDimensions; ++d) of[d] -= other.of[d];
    return *this;
  }
  friend Usage operator+(Usage a, const Usage& b) { return a += b; }
  friend Usage operator-(Usage a, const Usage& b) { return a -= b; }
  friend Usage operator*(Usage a, double factor) {
    for (double& amount : a.of) amount *= factor;
    return a;
  }
  bool operator==(const Usage&) const = default;
};

// What something is expected to use, how sure that is (one variance per dimension), and
// how far it may rise at its worst.
struct Demand {
  Usage mean;
  Usage variance;
  Usage peak;
  bool operator==(const Demand&) const = default;
};

}  // namespace evenkeel
