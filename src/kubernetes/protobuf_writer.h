#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace evenkeel::kubernetes {

// One protobuf message on its way out: the few we write by hand, because the server pays far less for them
// than for JSON. Empty texts are left out, as their default.
class ProtobufWriter {
 public:
  ProtobufWriter& text(std::uint32_t number, std::string_view value) {
    if (!value.empty()) bytes(number, value);
    return *this;
  }
  ProtobufWriter& integer(std::uint32_t number, std::int64_t value) {
    varint(std::uint64_t{number} << 3);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  ProtobufWriter& message(std::uint32_t number, const ProtobufWriter& inner) {
    bytes(number, inner.bytes_);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

  // As the body of a request: runtime.Unknown behind its magic.
  std::string enveloped(std::string_view api_version, std::string_view kind) const {
    ProtobufWriter type, unknown;
    type.text(1, api_version).text(2, kind);
    unknown.message(1, type).bytes(2, bytes_);
    return std::string("k8s\0", 4) + unknown.bytes_;
  }

 private:
  void bytes(std::uint32_t number, std::string_view value) {
    varint(std::uint64_t{number} << 3 | 2);
    varint(value.size());
    bytes_ += value;
  }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

}  // namespace evenkeel::kubernetes
