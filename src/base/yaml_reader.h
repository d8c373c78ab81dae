#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"
#include "base/time.h"
#include "base/unit_text.h"
#include "base/yaml_file.h"

namespace evenkeel {

namespace yaml_detail {

struct State;

std::string to_text(double value);
std::string to_text(std::integral auto value) { return std::to_string(value); }
using evenkeel::to_text;

// A field asked for: where it stands, or where it would stand.
struct Place {
  std::shared_ptr<State> state;
  const YamlNode* node = nullptr;    // null when the field is absent
  const YamlNode* holder = nullptr;  // the map it stands in, or the innermost that exists
  std::string path;
  std::string holder_path;
  std::string key;  // of the holder, on the way to the field

  void fail(const std::string& message) const;
  void fail_range(const std::string& expected) const;
  void fail_missing() const;
};

}  // namespace yaml_detail

// One field on its way to a value: restrict it, then take it with required(), or_else() or optional().
template <class T>
class YamlField {
 public:
  YamlField(yaml_detail::Place place, std::optional<T> value)
      : place_(std::move(place)), value_(std::move(value)) {}

  YamlField& at_least(T low) {
    return restrict(!value_ || !(*value_ < low), [&] { return "at least " + text(low); });
  }
  YamlField& at_most(T high) {
    return restrict(!value_ || !(high < *value_), [&] { return "at most " + text(high); });
  }
  YamlField& more_than(T low) {
    return restrict(!value_ || low < *value_, [&] { return "more than " + text(low); });
  }
  YamlField& between(T low, T high) {
    return restrict(!value_ || !(*value_ < low || high < *value_),
                    [&] { return "between " + text(low) + " and " + text(high); });
  }

  T required() {
    if (place_.node == nullptr) place_.fail_missing();
    return value_ ? *std::move(value_) : T{};
  }
  T or_else(T fallback) { return value_ ? *std::move(value_) : std::move(fallback); }
  std::optional<T> optional() { return std::move(value_); }

 private:
  static std::string text(const T& bound) {
    using yaml_detail::to_text;
    return to_text(bound);
  }
  template <class Describe>
  YamlField& restrict(bool holds, Describe describe) {
    if (holds) return *this;
    place_.fail_range(describe());
    value_.reset();
    return *this;
  }

  yaml_detail::Place place_;
  std::optional<T> value_;  // empty when absent or when an error was reported
};

// Reads a YamlFile field by field. Code reads like the list of its fields:
//
//   YamlReader root(file);
//   const int nodes = root.integer<int>("nodes.count").at_least(1).required();
//   const double moves = root.number("moves.per_hour").at_least(0).or_else(0);
//   for (YamlReader app : root.list("apps")) names.push_back(app.text("name").required());
//   if (auto bad = root.finish()) return *bad;
//
// Paths are dotted and relative to the reader; "" is the reader's own value. The first error is kept, reading
// goes on with harmless values (the fallback, zero, empty), and finish() returns it. Fields nobody asked for
// are errors. The file must outlive its readers and stay where it is.
class YamlReader {
 public:
  explicit YamlReader(const YamlFile& file);

  YamlField<double> number(std::string_view path);
  template <std::integral T = std::int64_t>
  YamlField<T> integer(std::string_view path);
  YamlField<bool> boolean(std::string_view path);
  YamlField<std::string> text(std::string_view path);             // any scalar
  YamlField<Duration> duration(std::string_view path);            // 250ms 20s 5m 2h 1d, or seconds
  YamlField<Bytes> bytes(std::string_view path);                  // 4GiB, 8.4MB, 512
  YamlField<BytesPerSecond> byte_rate(std::string_view path);     // 36 MB/s, 10Gbit/s
  YamlField<MilliCpu> cpu(std::string_view path);                 // 500m, 2
  YamlField<std::vector<double>> numbers(std::string_view path);  // [1, 2.5]
  YamlField<std::vector<std::string>> texts(std::string_view path);
  // A word out of a list, and what it stands for: choice<Mode>("mode", {{"even", Mode::even}, …}).
  template <class T>
  YamlField<T> choice(std::string_view path, std::initializer_list<std::pair<std::string_view, T>> options);
  // A word that is its own meaning: word("kind", {"Scenario"}).
  YamlField<std::string> word(std::string_view path, std::initializer_list<std::string_view> options);

  bool has(std::string_view path);
  bool is_list(std::string_view path);                  // for fields that are a value or a list of them
  YamlReader map(std::string_view path);                // absent: every field in it is absent
  std::vector<YamlReader> list(std::string_view path);  // absent: empty
  // A map whose keys are names of the writer's choosing, in the order of the file.
  std::vector<std::pair<std::string, YamlReader>> entries(std::string_view path);
  void ignore(std::string_view path);  // known, and of no interest here

  // An error of the caller's finding, placed at the field: fail("to", "expected a time after 'from'").
  void fail(std::string_view path, const std::string& message);
  // The first error, or the first field in here that nobody asked for.
  std::optional<Error> finish();

  const std::string& path() const { return place_.path; }  // "apps.2", for messages

 private:
  explicit YamlReader(yaml_detail::Place place) : place_(std::move(place)) {}

  yaml_detail::Place find(std::string_view path);
  YamlField<std::int64_t> integer_between(std::string_view path, std::int64_t low, std::int64_t high);
  YamlField<std::size_t> index_of(std::string_view path, const std::vector<std::string_view>& names);

  yaml_detail::Place place_;
};

template <std::integral T>
YamlField<T> YamlReader::integer(std::string_view path) {
  using Limits = std::numeric_limits<T>;
  constexpr std::int64_t kLow =
      std::in_range<std::int64_t>(Limits::min()) ? static_cast<std::int64_t>(Limits::min()) : 0;
  constexpr std::int64_t kHigh = std::in_range<std::int64_t>(Limits::max())
                                     ? static_cast<std::int64_t>(Limits::max())
                                     : std::numeric_limits<std::int64_t>::max();
  yaml_detail::Place place = find(path);
  const auto wide = integer_between(path, kLow, kHigh).optional();
  return {std::move(place), wide ? std::optional(static_cast<T>(*wide)) : std::nullopt};
}

template <class T>
YamlField<T> YamlReader::choice(std::string_view path,
                                std::initializer_list<std::pair<std::string_view, T>> options) {
  std::vector<std::string_view> names;
  for (const auto& option : options) names.push_back(option.first);
  yaml_detail::Place place = find(path);
  const auto index = index_of(path, names).optional();
  return {std::move(place), index ? std::optional(options.begin()[*index].second) : std::nullopt};
}

}  // namespace evenkeel
