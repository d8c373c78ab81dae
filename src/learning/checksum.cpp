#include "learning/checksum.h"

#include <array>

namespace evenkeel::learning {
namespace {

constexpr auto kTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    table[i] = i;
    for (int bit = 0; bit < 8; ++bit) table[i] = (table[i] >> 1) ^ (table[i] & 1 ? 0xEDB88320U : 0U);
  }
  return table;
}();

}  // namespace

std::uint32_t checksum(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<std::uint8_t>(byte)) & 0xFF];
  return ~crc;
}

std::string checksum_text(std::uint32_t sum) {
  std::string text(8, '0');
  for (std::size_t i = 8; i-- > 0; sum >>= 4) text[i] = "0123456789abcdef"[sum & 15];
  return text;
}

}  // namespace evenkeel::learning
