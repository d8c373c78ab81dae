#include "cluster/agent_messages.h"

#include <charconv>
#include <optional>

namespace evenkeel {
namespace {

constexpr std::size_t kUuidText = 36;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<PodKey> parse_uuid(std::string_view text) {
  if (text.size() != kUuidText) return std::nullopt;
  PodKey key;
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (text[i] != '-') return std::nullopt;
      continue;
    }
    const int digit = hex_digit(text[i]);
    if (digit < 0) return std::nullopt;
    std::uint8_t& byte = key.bytes[digits / 2];
    byte = static_cast<std::uint8_t>(digits % 2 == 0 ? digit << 4 : byte | digit);
    ++digits;
  }
  return key;
}

// FNV-1a, begun in two ways.
std::uint64_t hash_of(std::string_view text, std::uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace

PodKey pod_key(std::string_view uid) {
  if (const auto key = parse_uuid(uid)) return *key;
  PodKey key;
  const std::uint64_t halves[] = {hash_of(uid, 0xcbf29ce484222325ULL), hash_of(uid, 0x9e3779b97f4a7c15ULL)};
  for (std::size_t i = 0; i < key.bytes.size(); ++i)
    key.bytes[i] = static_cast<std::uint8_t>(halves[i / 8] >> (8 * (i % 8)));
  return key;
}

std::string to_text(const HolderIdentity& holder) {
  std::string digits(16, '0');
  for (std::size_t i = 0; i < digits.size(); ++i)
    digits[i] = "0123456789abcdef"[holder.incarnation >> (4 * (digits.size() - 1 - i)) & 0xf];
  return holder.node + "/" + holder.address + "/" + digits;
}

std::optional<HolderIdentity> parse_holder(std::string_view text) {
  const std::size_t first = text.find('/');
  const std::size_t last = text.rfind('/');
  if (first == std::string_view::npos || last == first) return std::nullopt;
  HolderIdentity holder;
  holder.node = text.substr(0, first);
  holder.address = text.substr(first + 1, last - first - 1);
  const std::string_view digits = text.substr(last + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), holder.incarnation, 16);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  if (holder.node.empty() || holder.address.empty()) return std::nullopt;
  return holder;
}

}  // namespace evenkeel
