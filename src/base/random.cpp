#include "base/random.h"

#include <bit>
#include <cmath>

#include "base/check.h"

namespace evenkeel {
namespace {

// Steele, Lea and Flood's finalizer: spreads neighbouring seeds over the whole space.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}
constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

constexpr std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

// Not a plain xor of the two: a/b and b/a must be different streams.
constexpr std::uint64_t child_seed(std::uint64_t seed, std::uint64_t key) {
  return mixed(mixed(seed + kGolden) ^ (key * kGolden + 1));
}

}  // namespace

Random::Random(std::uint64_t seed) : seed_(seed), state_{} {
  for (std::uint64_t& word : state_) word = mixed(seed += kGolden);
}

Random Random::fork(std::string_view name) const { return Random(child_seed(seed_, fnv1a(name))); }
Random Random::fork(std::uint64_t index) const { return Random(child_seed(seed_, mixed(index + kGolden))); }

// Lemire 2019: a multiplication in place of a division, and a redraw where the remainder would favour some.
std::uint64_t Random::below(std::uint64_t n) {
  EVENKEEL_CHECK(n > 0);
  auto product = static_cast<unsigned __int128>(bits()) * n;
  if (static_cast<std::uint64_t>(product) < n) {
    const std::uint64_t threshold = (0 - n) % n;
    while (static_cast<std::uint64_t>(product) < threshold)
      product = static_cast<unsigned __int128>(bits()) * n;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

// Marsaglia's polar method: square root and logarithm only, both exact to the bit everywhere.
double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_normal_;
  }
  double x = 0;
  double y = 0;
  double square = 0;
  do {
    x = 2 * uniform() - 1;
    y = 2 * uniform() - 1;
    square = x * x + y * y;
  } while (square >= 1 || square == 0);
  const double stretch = std::sqrt(-2 * portable_log(square) / square);
  spare_normal_ = y * stretch;
  has_spare_ = true;
  return x * stretch;
}

double Random::exponential(double mean) { return -mean * portable_log(1 - uniform()); }

// x = 2^k (1 + f) with 1 + f near 1; log(1 + f) by the minimax polynomial in s = f / (2 + f) that fdlibm
// published.
double portable_log(double x) {
  constexpr double kLn2High = 6.93147180369123816490e-01;
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  constexpr double kL1 = 6.666666666666735130e-01;
  constexpr double kL2 = 3.999999999940941908e-01;
  constexpr double kL3 = 2.857142874366239149e-01;
  constexpr double kL4 = 2.222219843214978396e-01;
  constexpr double kL5 = 1.818357216161805012e-01;
  constexpr double kL6 = 1.531383769920937332e-01;
  constexpr double kL7 = 1.479819860511658591e-01;
  EVENKEEL_CHECK(x > 0 && std::isfinite(x));

  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // [0.5, 1)
  if (mantissa < 0.70710678118654752440) {
    mantissa *= 2;
    --exponent;
  }
  const double f = mantissa - 1;
  const double s = f / (2 + f);
  const double z = s * s;
  const double w = z * z;
  const double even = w * (kL2 + w * (kL4 + w * kL6));
  const double odd = z * (kL1 + w * (kL3 + w * (kL5 + w * kL7)));
  const double half_square = 0.5 * f * f;
  const double k = exponent;
  return k * kLn2High - ((half_square - (s * (half_square + (odd + even)) + k * kLn2Low)) - f);
}

}  // namespace evenkeel
