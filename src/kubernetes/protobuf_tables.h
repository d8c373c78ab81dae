#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace evenkeel::kubernetes {

// How a field's bytes become JSON. The last four have a JSON form that differs from their message.
enum class FieldKind : std::uint8_t {
  text,
  boolean,
  integer,
  message,
  quantity,
  time,
  micro_time,
  int_or_string,
};

enum class FieldShape : std::uint8_t { single, list, map };  // maps have text keys

struct FieldTable {
  std::uint16_t number;
  FieldKind kind;
  FieldShape shape;
  bool inlined;           // the message's fields stand among ours
  bool keeps_zero;        // false: the API leaves out zero and ""
  std::uint16_t message;  // index into message_tables() where kind is message
  std::string_view name;
};

struct MessageTable {
  std::string_view name;
  std::span<const FieldTable> fields;  // by number
};

struct KindTable {
  std::string_view api_version, kind;
  std::uint16_t message;
};

// Generated: fields that nobody here reads are absent, and jumped over.
std::span<const MessageTable> message_tables();
std::span<const KindTable> kind_tables();

}  // namespace evenkeel::kubernetes
