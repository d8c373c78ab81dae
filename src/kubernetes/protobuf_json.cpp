#include "kubernetes/protobuf_json.h"

#include <simdjson.h>

#include <algorithm>
#include <bitset>
#include <charconv>

#include "kubernetes/protobuf_tables.h"
#include "kubernetes/protobuf_wire.h"
#include "kubernetes/rfc3339.h"

namespace evenkeel::kubernetes {
namespace {

constexpr int kMaxDepth = 32;            // the API's own messages stay below 20
constexpr std::size_t kMaxFields = 128;  // of one message

const KindTable* find_kind(std::string_view api_version, std::string_view kind) {
  const auto kinds = kind_tables();
  const auto found = std::ranges::find_if(
      kinds, [&](const KindTable& table) { return table.kind == kind && table.api_version == api_version; });
  return found == kinds.end() ? nullptr : &*found;
}

void append_integer(std::int64_t value, std::string& json) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  json.append(digits, end);
}

// Seconds and nanoseconds, as both kinds of time carry them.
struct Instant {
  std::int64_t seconds = 0, nanoseconds = 0;
};
std::optional<Instant> read_instant(std::string_view bytes) {
  Instant instant;
  ProtobufWalker walker(bytes);
  while (walker.next()) {
    if (walker.number() == 1 && walker.is_varint()) instant.seconds = walker.integer();
    if (walker.number() == 2 && walker.is_varint()) instant.nanoseconds = walker.integer();
  }
  if (walker.broken()) return std::nullopt;
  return instant;
}

class Transcoder {
 public:
  explicit Transcoder(std::string& json) : json_(json) {}

  bool object(std::string_view bytes, std::uint16_t message) {
    json_ += '{';
    bool first = true;
    if (!fields(bytes, message, first)) return false;
    json_ += '}';
    return true;
  }

  const std::string& trouble() const { return trouble_; }

 private:
  bool fail(std::string_view message, const std::string& what) {
    if (trouble_.empty()) trouble_ = std::string(message) + ": " + what;
    return false;
  }

  void comma(bool& first) {
    if (!first) json_ += ',';
    first = false;
  }
  void key(std::string_view name, bool& first) {
    comma(first);
    json_ += '"';
    json_ += name;  // of our own tables: nothing to escape
    json_ += "\":";
  }

  // The fields of one message, in the order of the wire. Elements of a list or map must stand together, as
  // every encoder writes them: JSON could not say the same key twice.
  bool fields(std::string_view bytes, std::uint16_t message, bool& first) {
    const MessageTable& table = message_tables()[message];
    if (++depth_ > kMaxDepth) return fail(table.name, "nested too deeply");
    std::bitset<kMaxFields> seen;
    const FieldTable* open = nullptr;  // the list or map being written
    ProtobufWalker walker(bytes);
    while (walker.next()) {
      const auto place = std::ranges::lower_bound(table.fields, walker.number(), {}, &FieldTable::number);
      const bool known = place != table.fields.end() && place->number == walker.number();
      if (open != nullptr && (!known || open != &*place)) close(open);
      if (!known) continue;
      if (open == nullptr) {
        const auto index = static_cast<std::size_t>(place - table.fields.begin());
        if (seen[index]) return fail(table.name, "field " + std::string(place->name) + " stands twice");
        seen[index] = true;
      }
      if (!field(walker, *place, first, open)) return fail(table.name, "field " + std::string(place->name));
    }
    if (walker.broken()) return fail(table.name, "not a protobuf message");
    if (open != nullptr) close(open);
    --depth_;
    return true;
  }

  void close(const FieldTable*& open) {
    json_ += open->shape == FieldShape::list ? ']' : '}';
    open = nullptr;
  }

  bool field(const ProtobufWalker& walker, const FieldTable& table, bool& first, const FieldTable*& open) {
    const bool is_number = table.kind == FieldKind::integer || table.kind == FieldKind::boolean;
    if (table.shape == FieldShape::single) {
      if (is_number ? !walker.is_varint() : !walker.is_bytes()) return false;
      if (table.inlined) return fields(walker.bytes(), table.message, first);
      if (is_absent(walker, table)) return true;
      key(table.name, first);
      return is_number ? number(walker, table.kind) : value(walker.bytes(), table);
    }
    bool first_element = false;
    if (open == nullptr) {
      key(table.name, first);
      json_ += table.shape == FieldShape::list ? '[' : '{';
      open = &table;
      first_element = true;
    }
    if (table.shape == FieldShape::map)
      return walker.is_bytes() && entry(walker.bytes(), table, first_element);
    comma(first_element);
    if (is_number) return walker.is_varint() && number(walker, table.kind);
    return walker.is_bytes() && value(walker.bytes(), table);
  }

  // Go leaves out zero where its type says so, and a time that was never set is null to it.
  static bool is_absent(const ProtobufWalker& walker, const FieldTable& table) {
    switch (table.kind) {
      case FieldKind::integer:
      case FieldKind::boolean:
        return !table.keeps_zero && walker.varint() == 0;
      case FieldKind::text:
        return !table.keeps_zero && walker.bytes().empty();
      case FieldKind::time:
      case FieldKind::micro_time:
        return walker.bytes().empty();
      default:
        return false;
    }
  }

  bool number(const ProtobufWalker& walker, FieldKind kind) {
    if (kind == FieldKind::boolean) {
      json_ += walker.varint() != 0 ? "true" : "false";
    } else {
      append_integer(walker.integer(), json_);
    }
    return true;
  }

  bool entry(std::string_view bytes, const FieldTable& table, bool& first_element) {
    std::string_view name, content;
    ProtobufWalker walker(bytes);
    while (walker.next()) {
      if (walker.number() == 1 && walker.is_bytes()) name = walker.bytes();
      if (walker.number() == 2 && walker.is_bytes()) content = walker.bytes();
    }
    if (walker.broken()) return false;
    comma(first_element);
    if (!text(name)) return false;
    json_ += ':';
    return value(content, table);
  }

  bool value(std::string_view bytes, const FieldTable& table) {
    switch (table.kind) {
      case FieldKind::text:
        return text(bytes);
      case FieldKind::message:
        return object(bytes, table.message);
      case FieldKind::quantity: {
        const std::string_view spelled = protobuf_bytes(bytes, 1);
        return text(spelled.empty() ? "0" : spelled);
      }
      case FieldKind::time:
      case FieldKind::micro_time:
        return time(bytes, table.kind == FieldKind::micro_time);
      case FieldKind::int_or_string:
        return int_or_string(bytes);
      case FieldKind::integer:
      case FieldKind::boolean:
        return false;  // numbers are never length-delimited here
    }
    return false;
  }

  bool time(std::string_view bytes, bool micro) {
    const auto instant = read_instant(bytes);
    if (!instant) return false;
    const auto spelled = format_rfc3339(instant->seconds, instant->nanoseconds, micro);
    if (!spelled) return false;
    json_ += '"';
    json_ += *spelled;
    json_ += '"';
    return true;
  }

  bool int_or_string(std::string_view bytes) {
    std::int64_t type = 0, whole = 0;
    std::string_view words;
    ProtobufWalker walker(bytes);
    while (walker.next()) {
      if (walker.number() == 1 && walker.is_varint()) type = walker.integer();
      if (walker.number() == 2 && walker.is_varint()) whole = walker.integer();
      if (walker.number() == 3 && walker.is_bytes()) words = walker.bytes();
    }
    if (walker.broken()) return false;
    if (type != 0) return text(words);
    append_integer(whole, json_);
    return true;
  }

  bool text(std::string_view bytes) {
    if (!simdjson::validate_utf8(bytes.data(), bytes.size())) return false;
    append_json_text(bytes, json_);
    return true;
  }

  std::string& json_;
  std::string trouble_;
  int depth_ = 0;
};

}  // namespace

void append_json_text(std::string_view text, std::string& json) {
  constexpr char kHex[] = "0123456789abcdef";
  json += '"';
  std::size_t written = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
    json.append(text, written, i - written);
    written = i + 1;
    if (byte == '"' || byte == '\\') {
      json += {'\\', static_cast<char>(byte)};
    } else {
      json += {'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  json.append(text, written);
  json += '"';
}

bool has_protobuf_form(std::string_view api_version, std::string_view kind) {
  return find_kind(api_version, kind) != nullptr;
}

Status append_protobuf_as_json(std::string_view bytes, std::string_view api_version, std::string_view kind,
                               std::string& json) {
  const KindTable* table = find_kind(api_version, kind);
  if (table == nullptr) {
    return invalid("no protobuf table for " + std::string(api_version) + " " + std::string(kind));
  }
  const std::size_t before = json.size();
  Transcoder transcoder(json);
  if (transcoder.object(bytes, table->message)) return {};
  json.resize(before);
  return invalid("damaged protobuf of a " + std::string(kind) + ": " + transcoder.trouble());
}

}  // namespace evenkeel::kubernetes
