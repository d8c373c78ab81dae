// DRS's `video`: processor work. Makes frames, transforms them block by block as an encoder would (8 x 8
// cosine transform, quantisation) and ends after --frames of them. --memory megabytes are held as the frames
// it refers back to.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <vector>

#include "arguments.h"
#include "pacing.h"

namespace {

constexpr int kWidth = 640, kHeight = 480, kBlock = 8;
using Block = std::array<float, kBlock * kBlock>;

Block cosines() {
  Block table;
  for (int u = 0; u < kBlock; ++u)
    for (int x = 0; x < kBlock; ++x)
      table[u * kBlock + x] = static_cast<float>((u == 0 ? std::sqrt(0.125) : 0.5) *
                                                 std::cos((2 * x + 1) * u * std::numbers::pi / (2 * kBlock)));
  return table;
}

// out = table * in, transposed: applied twice it is the transform of rows and columns.
void transform(const Block& table, const Block& in, Block& out) {
  for (int u = 0; u < kBlock; ++u)
    for (int y = 0; y < kBlock; ++y) {
      float sum = 0;
      for (int x = 0; x < kBlock; ++x) sum += table[u * kBlock + x] * in[y * kBlock + x];
      out[u * kBlock + y] = sum;
    }
}

// The sum of the quantised coefficients of one frame's difference from an earlier one.
std::uint64_t encode(const Block& table, const std::uint8_t* frame, const std::uint8_t* earlier) {
  std::uint64_t sum = 0;
  Block pixels, rows, coefficients;
  for (int top = 0; top < kHeight; top += kBlock)
    for (int left = 0; left < kWidth; left += kBlock) {
      for (int y = 0; y < kBlock; ++y)
        for (int x = 0; x < kBlock; ++x) {
          const int at = (top + y) * kWidth + left + x;
          pixels[y * kBlock + x] = static_cast<float>(frame[at] - earlier[at]);
        }
      transform(table, pixels, rows);
      transform(table, rows, coefficients);
      for (int i = 0; i < kBlock * kBlock; ++i)
        sum = sum * 31 + static_cast<std::uint64_t>(std::lrint(coefficients[i] / (1 + i / 4)) + 4096);
    }
  return sum;
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments(count, values, {{"frames", "1000"}, {"memory", "16"}, {"rate", "0"}});
  const std::size_t size = kWidth * kHeight;
  const std::size_t kept =
      std::max<std::size_t>(2, static_cast<std::size_t>(arguments.number("memory") * 1e6) / size);
  std::vector<std::uint8_t> ring(kept * size, 128);
  const Block table = cosines();
  const Pacing pacing(arguments.number("rate"));
  std::uint64_t sum = 0, state = 88172645463325252ULL;
  const long frames = arguments.whole("frames");
  for (long n = 0; n < frames; ++n) {
    pacing.wait(static_cast<double>(n));
    std::uint8_t* frame = &ring[static_cast<std::size_t>(n) % kept * size];
    for (std::size_t i = 0; i < size; i += 8) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      for (std::size_t k = 0; k < 8; ++k) frame[i + k] = static_cast<std::uint8_t>(state >> (8 * k));
    }
    sum ^= encode(table, frame, &ring[static_cast<std::size_t>(n + 1) % kept * size]);
  }
  std::printf("video: %ld frames in %.2f s, checksum %016llx\n", frames, pacing.seconds(),
              static_cast<unsigned long long>(sum));
}
