#include "kubernetes/protobuf_wire.h"

#include <limits>

namespace evenkeel::kubernetes {

std::optional<std::uint64_t> ProtobufWalker::take_varint() {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < rest_.size() && i < 10; ++i) {
    const auto byte = static_cast<std::uint8_t>(rest_[i]);
    if (i == 9 && byte > 1) return std::nullopt;  // more than 64 bits
    value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) == 0) {
      rest_.remove_prefix(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

bool ProtobufWalker::skip(std::size_t count) {
  if (count > rest_.size()) return false;
  rest_.remove_prefix(count);
  return true;
}

bool ProtobufWalker::take_value() {
  if (wire_ == kFixed64) return skip(8);
  if (wire_ == kFixed32) return skip(4);
  if (wire_ != kVarint && wire_ != kBytes) return false;  // groups are long gone from protobuf
  const auto value = take_varint();
  if (!value) return false;
  varint_ = *value;
  if (wire_ == kVarint) return true;
  if (varint_ > rest_.size()) return false;
  bytes_ = rest_.substr(0, varint_);
  rest_.remove_prefix(varint_);
  return true;
}

bool ProtobufWalker::next() {
  if (broken_ || rest_.empty()) return false;
  const auto tag = take_varint();
  broken_ = !tag || *tag > std::numeric_limits<std::uint32_t>::max() || *tag < 8;  // field 0 does not exist
  if (broken_) return false;
  number_ = static_cast<std::uint32_t>(*tag >> 3);
  wire_ = static_cast<std::uint32_t>(*tag & 7);
  broken_ = !take_value();
  return !broken_;
}

std::string_view protobuf_bytes(std::string_view message, std::uint32_t number) {
  ProtobufWalker walker(message);
  while (walker.next()) {
    if (walker.number() == number && walker.is_bytes()) return walker.bytes();
  }
  return {};
}

}  // namespace evenkeel::kubernetes
