#include "kubernetes/yaml_to_json.h"

#include <charconv>
#include <optional>

#include "base/numbers.h"

namespace evenkeel::kubernetes {
namespace {

void append_text(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  for (const std::string_view other : words)
    if (word == other) return true;
  return false;
}

// 0x10, 010 and 0o10, which YAML 1.1 reads as numbers.
std::optional<std::int64_t> parse_other_base(std::string_view word) {
  int base = 0;
  if (word.starts_with("0x")) {
    base = 16;
    word.remove_prefix(2);
  } else if (word.starts_with("0o")) {
    base = 8;
    word.remove_prefix(2);
  } else if (word.size() > 1 && word.starts_with('0')) {
    base = 8;
    word.remove_prefix(1);
  } else {
    return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  if (error != std::errc{} || end != word.data() + word.size() || word.empty()) return std::nullopt;
  return value;
}

void append_word(std::string& out, std::string_view word) {
  if (is_one_of(word, {"", "~", "null", "Null", "NULL"})) {
    out += "null";
  } else if (is_one_of(word, {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})) {
    out += "true";
  } else if (is_one_of(word, {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"})) {
    out += "false";
  } else if (const auto other = parse_other_base(word)) {
    out += std::to_string(*other);
  } else if (const auto whole = parse_integer(word.starts_with('+') ? word.substr(1) : word)) {
    out += std::to_string(*whole);
  } else if (const auto number = parse_number(word.starts_with('+') ? word.substr(1) : word)) {
    char buffer[32];
    out += format_number(*number, buffer);
  } else {
    append_text(out, word);
  }
}

void append(std::string& out, const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null:
      out += "null";
      return;
    case YamlNode::Kind::scalar:
      node.quoted ? append_text(out, node.text) : append_word(out, node.text);
      return;
    case YamlNode::Kind::list:
      out += '[';
      for (std::size_t i = 0; i < node.items.size(); ++i) {
        if (i > 0) out += ',';
        append(out, node.items[i]);
      }
      out += ']';
      return;
    case YamlNode::Kind::map:
      out += '{';
      for (std::size_t i = 0; i < node.items.size(); ++i) {
        if (i > 0) out += ',';
        append_text(out, node.keys[i]);
        out += ':';
        append(out, node.items[i]);
      }
      out += '}';
      return;
  }
}

}  // namespace

std::string yaml_to_json(const YamlNode& node) {
  std::string out;
  append(out, node);
  return out;
}

}  // namespace evenkeel::kubernetes
