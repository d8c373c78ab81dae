#pragma once
#include <cmath>
#include <compare>
#include <cstdint>

namespace evenkeel {

// An integer with a unit. Adding CPU to memory is a compile error, not an outage.
template <class Unit>
struct Quantity {
  std::int64_t count = 0;

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity other) {
    count += other.count;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    count -= other.count;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator-(Quantity a) { return {-a.count}; }
  friend constexpr Quantity operator*(Quantity a, std::int64_t times) { return {a.count * times}; }
  friend constexpr Quantity operator*(std::int64_t times, Quantity a) { return a * times; }
};

// The only door from units to plain numbers: same unit over same unit. Part of nothing is nothing.
template <class Unit>
constexpr double ratio(Quantity<Unit> part, Quantity<Unit> whole) {
  return whole.count == 0 ? 0.0 : static_cast<double>(part.count) / static_cast<double>(whole.count);
}

// A share of a quantity, to the nearest unit.
template <class Unit>
Quantity<Unit> scaled(Quantity<Unit> quantity, double factor) {
  return {std::llround(static_cast<double>(quantity.count) * factor)};
}

using MilliCpu = Quantity<struct MilliCpuUnit>;
using Bytes = Quantity<struct BytesUnit>;
using BytesPerSecond = Quantity<struct BytesPerSecondUnit>;

namespace literals {
constexpr MilliCpu operator""_mcpu(unsigned long long n) { return {static_cast<std::int64_t>(n)}; }
constexpr MilliCpu operator""_cpu(unsigned long long n) { return {static_cast<std::int64_t>(n * 1000)}; }
constexpr Bytes operator""_B(unsigned long long n) { return {static_cast<std::int64_t>(n)}; }
constexpr Bytes operator""_KiB(unsigned long long n) { return {static_cast<std::int64_t>(n << 10)}; }
constexpr Bytes operator""_MiB(unsigned long long n) { return {static_cast<std::int64_t>(n << 20)}; }
constexpr Bytes operator""_GiB(unsigned long long n) { return {static_cast<std::int64_t>(n << 30)}; }
constexpr BytesPerSecond operator""_Bps(unsigned long long n) { return {static_cast<std::int64_t>(n)}; }
}  // namespace literals

}  // namespace evenkeel
