#pragma once
#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace evenkeel::messaging {

// Numbers and texts as bytes, the lowest first. What a message is made of is in report_wire and agent_wire.

// Appends to what is there.
class WireWriter {
 public:
  explicit WireWriter(std::string& bytes) : bytes_(bytes) {}

  template <std::unsigned_integral Number>
  void number(Number value) {
    for (std::size_t i = 0; i < sizeof(Number); ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
  }
  // Seven bits a byte: what is mostly small is mostly one byte.
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  void real(double value) { number(std::bit_cast<std::uint64_t>(value)); }
  void short_real(double value) { number(std::bit_cast<std::uint32_t>(static_cast<float>(value))); }
  void raw(std::string_view value) { bytes_ += value; }
  void text(std::string_view value) {  // of at most 255 bytes
    number(static_cast<std::uint8_t>(value.size()));
    bytes_ += value;
  }

 private:
  std::string& bytes_;
};

// Reads what is there; past the end it reads zeros and remembers that it did.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  template <std::unsigned_integral Number>
  Number number() {
    const std::string_view from = take(sizeof(Number));
    Number value = 0;
    for (std::size_t i = 0; i < from.size(); ++i)
      value =
          static_cast<Number>(value | static_cast<Number>(static_cast<unsigned char>(from[i])) << (8 * i));
    return value;
  }
  // One that is longer than it has to be, or than 64 bits, is damaged.
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = number<std::uint8_t>();
      if (shift == 63 && byte > 1) break;
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) != 0) continue;
      if (byte == 0 && shift > 0) break;
      return value;
    }
    damage();
    return 0;
  }
  // Of at most 32 bits.
  std::uint32_t small_varint() {
    const std::uint64_t value = varint();
    if (value <= UINT32_MAX) return static_cast<std::uint32_t>(value);
    damage();
    return 0;
  }
  double real() { return std::bit_cast<double>(number<std::uint64_t>()); }
  float short_real() { return std::bit_cast<float>(number<std::uint32_t>()); }
  std::string_view text() { return take(number<std::uint8_t>()); }

  std::string_view take(std::size_t count) {
    if (count > rest_.size()) {
      damage();
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  void damage() {
    was_cut_ = true;
    rest_ = {};
  }

  bool was_cut() const { return was_cut_; }
  bool is_at_end() const { return rest_.empty(); }
  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  bool was_cut_ = false;
};

// No blanks, no control characters, nothing beyond ASCII: what names of nodes and uids are made of.
inline bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

}  // namespace evenkeel::messaging
