#include "kubernetes/json_field.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "base/kube_quantity.h"
#include "base/numbers.h"

namespace evenkeel::kubernetes {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

// A dom::element is a reference to its document and a place in it: nothing to construct, nothing to free.
static_assert(sizeof(element) == sizeof(JsonValue) && std::is_trivially_copyable_v<element>);
element open(JsonValue value) { return std::bit_cast<element>(value); }
JsonValue close(element value) { return std::bit_cast<JsonValue>(value); }

constexpr std::size_t kShown = 60;  // of somebody else's text, in a message

std::string shortened(std::string_view text) {
  return text.size() <= kShown ? std::string(text) : std::string(text.substr(0, kShown)) + "…";
}

// Two digits at `at`, or -1.
int two_digits(std::string_view text, std::size_t at) {
  if (at + 2 > text.size()) return -1;
  const char a = text[at], b = text[at + 1];
  if (a < '0' || a > '9' || b < '0' || b > '9') return -1;
  return (a - '0') * 10 + (b - '0');
}

// The text of a number, as close to what was written as the parser kept it.
std::optional<std::string> number_text(element value) {
  switch (value.type()) {
    case element_type::INT64:
      return std::to_string(value.get_int64().value_unsafe());
    case element_type::UINT64:
      return std::to_string(value.get_uint64().value_unsafe());
    case element_type::DOUBLE: {
      char buffer[32];
      return std::string(format_number(value.get_double().value_unsafe(), buffer));
    }
    default:
      return std::nullopt;
  }
}

// 2026-01-31T12:00:00[.123456](Z|+02:00)
std::optional<Time> parse_time(std::string_view text) {
  const int century = two_digits(text, 0), year_of = two_digits(text, 2), month = two_digits(text, 5),
            day = two_digits(text, 8), hour = two_digits(text, 11), minute = two_digits(text, 14),
            second = two_digits(text, 17);
  if (century < 0 || year_of < 0 || month < 1 || month > 12 || day < 1 || hour < 0 || hour > 23 ||
      minute < 0 || minute > 59 || second < 0 || second > 60)
    return std::nullopt;
  if (text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != 't') || text[13] != ':' ||
      text[16] != ':')
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{century * 100 + year_of},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return std::nullopt;
  text.remove_prefix(19);
  std::int64_t fraction = 0;
  if (text.starts_with('.')) {
    std::size_t digits = 1;
    std::int64_t unit = 100'000;
    for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits, unit /= 10)
      fraction += (text[digits] - '0') * unit;
    if (digits == 1) return std::nullopt;
    text.remove_prefix(digits);
  }
  int offset_minutes = 0;
  if (text != "Z" && text != "z") {
    if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return std::nullopt;
    const int hours = two_digits(text, 1), minutes = two_digits(text, 4);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
    offset_minutes = (text[0] == '-' ? -1 : 1) * (hours * 60 + minutes);
  }
  const auto days = std::chrono::sys_days{date}.time_since_epoch();
  return Time{} + std::chrono::duration_cast<Duration>(days) + std::chrono::hours{hour} +
         std::chrono::minutes{minute - offset_minutes} + std::chrono::seconds{second} + Duration{fraction};
}

}  // namespace

std::string describe(JsonValue of) {
  const element value = open(of);
  switch (value.type()) {
    case element_type::ARRAY:
      return "a list";
    case element_type::OBJECT:
      return "a map";
    case element_type::STRING:
      return "the text '" + shortened(value.get_string().value_unsafe()) + "'";
    case element_type::BOOL:
      return value.get_bool().value_unsafe() ? "true" : "false";
    case element_type::NULL_VALUE:
      return "null";
    default:
      return "the number " + number_text(value).value_or("?");
  }
}

void JsonReading::fail(const Step* at, std::string_view below, const std::string& message) {
  if (error_) return;
  std::string path;
  for (; at; at = at->parent) {
    // An index is attached to its list: containers[0].image.
    std::string part = at->key.empty() ? "[" + std::to_string(at->index) + "]" : shortened(at->key);
    if (!path.empty() && path.front() != '[') part += '.';
    path = part + path;
  }
  if (!below.empty()) path += (path.empty() ? "" : ".") + shortened(below);
  error_ = invalid(subject_ + ": " + (path.empty() ? "" : path + ": ") + message);
}

JsonField::JsonField(JsonReading& reading, JsonValue value)
    : reading_(&reading), value_(value), present_(!open(value).is_null()) {}

bool JsonField::is_map() const { return present_ && open(value_).is_object(); }

JsonField JsonField::below(JsonValue value, std::string_view key, std::size_t index) const {
  JsonField field(reading_, &reading_->steps_.emplace_back(JsonReading::Step{step_, key, index}));
  field.value_ = value;
  field.present_ = !open(value).is_null();
  return field;
}

void JsonField::fail(const std::string& message) const { reading_->fail(step_, "", message); }
void JsonField::fail_at(std::string_view key, const std::string& message) const {
  reading_->fail(step_, key, message);
}
void JsonField::fail_type(std::string_view expected) const {
  fail("expected " + std::string(expected) + ", found " + describe(value_));
}

JsonField JsonField::at(std::string_view key) const {
  if (!present_) return {reading_, step_};
  simdjson::dom::object object;
  if (open(value_).get_object().get(object)) {
    fail_type("a map");
    return {reading_, step_};
  }
  element value;
  if (object.at_key(key).get(value)) return {reading_, step_};
  return below(close(value), key, 0);
}

bool JsonField::has(std::string_view key) const {
  simdjson::dom::object object;
  element value;
  return present_ && !open(value_).get_object().get(object) && !object.at_key(key).get(value) &&
         !value.is_null();
}

std::vector<JsonField> JsonField::items() const {
  std::vector<JsonField> fields;
  if (!present_) return fields;
  simdjson::dom::array array;
  if (open(value_).get_array().get(array)) {
    fail_type("a list");
    return fields;
  }
  for (const element item : array) fields.push_back(below(close(item), "", fields.size()));
  return fields;
}

std::vector<std::pair<std::string_view, JsonField>> JsonField::entries() const {
  std::vector<std::pair<std::string_view, JsonField>> fields;
  if (!present_) return fields;
  simdjson::dom::object object;
  if (open(value_).get_object().get(object)) {
    fail_type("a map");
    return fields;
  }
  for (const auto& [key, value] : object) fields.emplace_back(key, below(close(value), key, 0));
  return fields;
}

std::string JsonField::text(std::string_view fallback) const {
  if (!present_) return std::string(fallback);
  std::string_view text;
  if (open(value_).get_string().get(text)) {
    fail_type("text");
    return std::string(fallback);
  }
  return std::string(text);
}

std::int64_t JsonField::integer(std::int64_t low, std::int64_t high, std::int64_t fallback) const {
  if (!present_) return fallback;
  std::int64_t value = 0;
  // Go's decoder takes 3 and not 3.0 or "3"; so do we.
  if (open(value_).get_int64().get(value)) {
    fail_type("a whole number");
    return fallback;
  }
  if (value < low || value > high) {
    fail("expected a number from " + std::to_string(low) + " to " + std::to_string(high) + ", found " +
         std::to_string(value));
    return fallback;
  }
  return value;
}

double JsonField::number() const {
  double value = 0;
  if (present_ && open(value_).get_double().get(value)) fail_type("a number");
  return value;
}

bool JsonField::flag(bool fallback) const {
  if (!present_) return fallback;
  bool value = fallback;
  if (open(value_).get_bool().get(value)) fail_type("true or false");
  return value;
}

namespace {

template <class Parse>
std::int64_t read_quantity(const JsonField& field, element value, Parse parse) {
  std::string text;
  if (std::string_view written; !value.get_string().get(written)) {
    text = written;
  } else if (const auto number = number_text(value)) {
    text = *number;
  } else {
    field.fail("expected a quantity such as 500m or 64Mi, found " + describe(close(value)));
    return 0;
  }
  const Result<std::int64_t> amount = parse(text);
  if (!amount) {
    field.fail(shortened(text) == text ? amount.error().message
                                       : "expected a quantity, found '" + shortened(text) + "'");
    return 0;
  }
  if (*amount < 0) field.fail("expected a quantity of 0 or more, found '" + shortened(text) + "'");
  return std::max<std::int64_t>(0, *amount);
}

}  // namespace

std::int64_t JsonField::quantity() const {
  return present_ ? read_quantity(*this, open(value_), parse_quantity) : 0;
}
std::int64_t JsonField::quantity_milli() const {
  return present_ ? read_quantity(*this, open(value_), parse_quantity_milli) : 0;
}

std::optional<Time> JsonField::time() const {
  if (!present_) return std::nullopt;
  const std::string written = text();
  if (written.empty()) return std::nullopt;
  const auto time = parse_time(written);
  if (!time) fail("expected a time such as 2026-01-31T12:00:00Z, found '" + shortened(written) + "'");
  return time;
}

std::vector<std::string> JsonField::texts() const {
  std::vector<std::string> all;
  for (const JsonField& item : items()) all.push_back(item.text());
  return all;
}

std::string JsonField::text_at(std::string_view key, std::string_view fallback) const {
  return at(key).text(fallback);
}

std::optional<std::string> JsonField::optional_text_at(std::string_view key) const {
  const JsonField field = at(key);
  return field.present() ? std::optional(field.text()) : std::nullopt;
}

std::string JsonField::required_text_at(std::string_view key) const {
  std::string value = at(key).text();
  if (value.empty()) fail_at(key, "expected text, found nothing");
  return value;
}

std::int32_t JsonField::int32_at(std::string_view key, std::int32_t fallback) const {
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::int32_t>(at(key).integer(Limits::min(), Limits::max(), fallback));
}

std::optional<std::int32_t> JsonField::optional_int32_at(std::string_view key) const {
  return has(key) ? std::optional(int32_at(key)) : std::nullopt;
}

bool JsonField::flag_at(std::string_view key, bool fallback) const { return at(key).flag(fallback); }
std::vector<std::string> JsonField::texts_at(std::string_view key) const { return at(key).texts(); }

namespace {

// Parsers own the memory a document is made of: one that is done with is kept for the next document.
std::shared_ptr<simdjson::dom::parser> take_parser() {
  constexpr std::size_t kKept = 4, kMostKeptBytes = 1u << 20;
  static thread_local std::vector<std::unique_ptr<simdjson::dom::parser>> idle;
  std::unique_ptr<simdjson::dom::parser> parser;
  if (idle.empty()) {
    parser = std::make_unique<simdjson::dom::parser>();
  } else {
    parser = std::move(idle.back());
    idle.pop_back();
  }
  return {parser.release(), [](simdjson::dom::parser* done) {
            std::unique_ptr<simdjson::dom::parser> owned(done);
            if (idle.size() < kKept && done->capacity() <= kMostKeptBytes) idle.push_back(std::move(owned));
          }};
}

}  // namespace

Result<JsonDocument> JsonDocument::parse(std::string_view text, const std::string& name) {
  JsonDocument document;
  const auto parser = take_parser();
  document.parser_ = parser;
  element root;
  if (const auto error = parser->parse(text.data(), text.size()).get(root))
    return invalid(name + ": not valid JSON: " + simdjson::error_message(error));
  document.root_ = close(root);
  return document;
}

}  // namespace evenkeel::kubernetes
