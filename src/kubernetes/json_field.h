// Reading what an API server, or a user's manifest, says: field by field, with the first thing that is wrong
// named by its path. Nothing here trusts its input.
#pragma once
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace evenkeel::kubernetes {

class JsonField;

// A value within a JsonDocument, which must outlive it. Small enough to copy; what it is made of is
// simdjson's business, whose header is long and stays in one file.
struct JsonValue {
  const void* document = nullptr;
  std::size_t index = 0;
};

// One object on its way into our types. Keeps the first error; reading goes on with harmless values.
class JsonReading {
 public:
  explicit JsonReading(std::string subject) : subject_(std::move(subject)) {}
  JsonReading(const JsonReading&) = delete;
  JsonReading& operator=(const JsonReading&) = delete;

  void set_subject(std::string subject) { subject_ = std::move(subject); }  // "Pod default/web-1"
  const std::optional<Error>& error() const { return error_; }

 private:
  friend class JsonField;
  struct Step {
    const Step* parent;
    std::string_view key;  // empty: an index
    std::size_t index;
  };
  void fail(const Step* at, std::string_view below, const std::string& message);

  std::string subject_;
  std::deque<Step> steps_;  // never moves: fields point into it
  std::optional<Error> error_;
};

// A value and where it stands; absent where there is none, or null, which the API takes for the same.
class JsonField {
 public:
  JsonField(JsonReading& reading, JsonValue value);

  bool present() const { return present_; }
  bool is_map() const;
  JsonValue value() const { return value_; }
  explicit operator bool() const { return present_; }

  JsonField at(std::string_view key) const;                             // of a map
  std::vector<JsonField> items() const;                                 // of a list; absent: none
  std::vector<std::pair<std::string_view, JsonField>> entries() const;  // of a map, in the order written
  bool has(std::string_view key) const;

  // Of this very value; absent gives the fallback, another type is an error.
  std::string text(std::string_view fallback = "") const;
  std::int64_t integer(std::int64_t low, std::int64_t high, std::int64_t fallback = 0) const;
  bool flag(bool fallback = false) const;
  double number() const;                // whole or not
  std::int64_t quantity() const;        // in whole units, rounded up
  std::int64_t quantity_milli() const;  // in thousandths
  std::optional<Time> time() const;     // RFC 3339
  std::vector<std::string> texts() const;

  // Of an entry of this map.
  std::string text_at(std::string_view key, std::string_view fallback = "") const;
  std::optional<std::string> optional_text_at(std::string_view key) const;
  std::string required_text_at(std::string_view key) const;
  std::int32_t int32_at(std::string_view key, std::int32_t fallback = 0) const;
  std::optional<std::int32_t> optional_int32_at(std::string_view key) const;
  bool flag_at(std::string_view key, bool fallback = false) const;
  std::vector<std::string> texts_at(std::string_view key) const;
  // A word out of a list, and what it stands for; absent or empty gives the fallback.
  template <class T>
  T choice_at(std::string_view key, std::span<const std::pair<std::string_view, T>> options,
              T fallback) const;
  template <class T>
  T choice_at(std::string_view key, std::initializer_list<std::pair<std::string_view, T>> options,
              T fallback) const {
    return choice_at(key, std::span(options.begin(), options.size()), std::move(fallback));
  }

  void fail(const std::string& message) const;
  void fail_at(std::string_view key, const std::string& message) const;
  bool failed() const { return reading_->error_.has_value(); }

 private:
  JsonField(JsonReading* reading, const JsonReading::Step* step) : reading_(reading), step_(step) {}
  JsonField below(JsonValue value, std::string_view key, std::size_t index) const;
  void fail_type(std::string_view expected) const;

  JsonReading* reading_;
  const JsonReading::Step* step_ = nullptr;
  JsonValue value_;
  bool present_ = false;
};

// "the text 'x'", "the number 3", "a list": for messages.
std::string describe(JsonValue value);

// A document and what it was parsed with.
class JsonDocument {
 public:
  static Result<JsonDocument> parse(std::string_view text, const std::string& name);
  JsonValue root() const { return root_; }

 private:
  std::shared_ptr<void> parser_;
  JsonValue root_;
};

template <class T>
T JsonField::choice_at(std::string_view key, std::span<const std::pair<std::string_view, T>> options,
                       T fallback) const {
  const JsonField field = at(key);
  const std::string word = field.text();
  if (word.empty()) return fallback;
  std::string known;
  for (const auto& [name, value] : options) {
    if (word == name) return value;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  field.fail("expected one of " + known + ", found '" + word.substr(0, 60) + "'");
  return fallback;
}

}  // namespace evenkeel::kubernetes
