#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace evenkeel::kubernetes {

// Walks over the fields of one protobuf message without copying. Every length is checked against what is
// there; after the first damage next() returns false and broken() says so, so that a loop needs one check at
// its end.
class ProtobufWalker {
 public:
  explicit ProtobufWalker(std::string_view bytes) : rest_(bytes) {}

  // Moves on to the next field. The value before it need not have been looked at.
  bool next();

  std::uint32_t number() const { return number_; }
  bool is_varint() const { return wire_ == kVarint; }
  bool is_bytes() const { return wire_ == kBytes; }
  std::uint64_t varint() const { return varint_; }   // of a varint
  std::string_view bytes() const { return bytes_; }  // of a string, message or map entry
  std::int64_t integer() const { return static_cast<std::int64_t>(varint_); }  // int32 and int64 alike

  bool broken() const { return broken_; }

 private:
  static constexpr std::uint32_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;

  std::optional<std::uint64_t> take_varint();
  bool take_value();
  bool skip(std::size_t count);

  std::string_view rest_, bytes_;
  std::uint64_t varint_ = 0;
  std::uint32_t number_ = 0, wire_ = 0;
  bool broken_ = false;
};

// The first field of that number, where it is a string or message; empty when there is none.
std::string_view protobuf_bytes(std::string_view message, std::uint32_t number);

}  // namespace evenkeel::kubernetes
