#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace evenkeel {

// A seeded stream of numbers, the same bit for bit on every machine: the engine (xoshiro256++ of Blackman and
// Vigna) and all sampling are our own, since std distributions differ between libraries and golden traces
// must not. 56 bytes and a value: copy it to look ahead without disturbing the original.
class Random {
 public:
  explicit Random(std::uint64_t seed);

  // An independent stream per consumer: adding a draw in one cannot shift another. A fork depends on the seed
  // and the names on the way to it, never on what was drawn so far.
  Random fork(std::string_view name) const;
  Random fork(std::uint64_t index) const;

  std::uint64_t bits() {
    const std::uint64_t result = rotated(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotated(state_[3], 45);
    return result;
  }

  double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }  // [0, 1)
  double between(double low, double high) { return low + (high - low) * uniform(); }
  bool chance(double probability) { return uniform() < probability; }
  std::uint64_t below(std::uint64_t n);  // 0 … n-1, each equally likely; n > 0
  double normal();                       // mean 0, standard deviation 1
  double normal(double mean, double deviation) { return mean + deviation * normal(); }
  double exponential(double mean);

  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[below(left)]);
  }
  template <class Container>
  void shuffle(Container& items) {
    shuffle(std::span(items));
  }

 private:
  static constexpr std::uint64_t rotated(std::uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }

  std::uint64_t seed_;
  std::array<std::uint64_t, 4> state_;
  double spare_normal_ = 0;  // normals are made in pairs
  bool has_spare_ = false;
};

// The natural logarithm of a positive finite number from IEEE arithmetic alone: libm's differs between
// versions in the last bit. Within one unit in the last place.
double portable_log(double x);

}  // namespace evenkeel
