#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace evenkeel::learning {

// CRC-32 (IEEE 802.3, as in zip and png): finds every damage within 32 neighbouring bits, and so every byte.
std::uint32_t checksum(std::string_view bytes);
std::string checksum_text(std::uint32_t sum);  // eight hex digits

}  // namespace evenkeel::learning
