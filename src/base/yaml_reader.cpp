#include "base/yaml_reader.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/kube_quantity.h"
#include "base/numbers.h"
#include "base/spelling.h"

namespace evenkeel {

using Kind = YamlNode::Kind;
using yaml_detail::Place;

namespace yaml_detail {

// A required field that is not there: the innermost map that exists, and the key it lacks.
struct Missing {
  const YamlNode* holder;
  std::string holder_path;
  std::string key;
};

// Shared by a reader and all that came out of it.
struct State {
  std::string file_name;
  std::optional<Error> first_error;
  std::optional<Missing> missing;  // set where the first error is a field that is not there

  std::map<const YamlNode*, std::set<std::string, std::less<>>> asked;  // fields asked for, present or not
  std::set<const YamlNode*> ignored;
};

std::string to_text(double value) {
  char buffer[32];
  return std::string(format_number(value, buffer));
}

}  // namespace yaml_detail

namespace {

std::string below(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

// "scenarios/x.yaml:12: nodes.count: " or "--set nodes.count: ".
std::string prefix(const std::string& file_name, const YamlNode& node, const std::string& path) {
  if (node.override_path.empty()) {
    const std::string line = file_name + ":" + std::to_string(std::max(1, node.line)) + ": ";
    return path.empty() ? line : line + path + ": ";
  }
  const std::string flag = "--set " + node.override_path + ": ";
  return path == node.override_path || path.empty() ? flag : flag + path + ": ";
}

std::string described(const YamlNode& node) {
  switch (node.kind) {
    case Kind::null:
      return "nothing";
    case Kind::list:
      return "a list";
    case Kind::map:
      return "a map";
    case Kind::scalar:
      break;
  }
  return node.quoted ? "the text \"" + node.text + "\"" : "'" + node.text + "'";
}

void expect(const Place& place, const std::string& what) {
  place.fail("expected " + what + ", found " + described(*place.node));
}

// The scalar's text where there is one; anything else that is there is an error.
const std::string* scalar_of(const Place& place, const char* expected) {
  if (place.node == nullptr) return nullptr;
  if (place.node->kind == Kind::scalar) return &place.node->text;
  expect(place, expected);
  return nullptr;
}

// As above, for values that a quoted text must not pass for.
const std::string* plain_scalar_of(const Place& place, const char* expected) {
  const std::string* text = scalar_of(place, expected);
  if (text == nullptr || !place.node->quoted) return text;
  expect(place, expected);
  return nullptr;
}

template <class T>
YamlField<T> parsed(Place place, const char* expected, Result<T> (*parse)(std::string_view)) {
  const std::string* text = scalar_of(place, expected);
  if (text == nullptr) return {std::move(place), std::nullopt};
  Result<T> value = parse(*text);
  if (value) return {std::move(place), *std::move(value)};
  place.fail(value.error().message);
  return {std::move(place), std::nullopt};
}

Place item_of(const Place& list, std::size_t index) {
  const YamlNode* item = &list.node->items[index];
  return {list.state, item, item, below(list.path, std::to_string(index)), "", ""};
}

// What is there counts as a list or a map when it is one or is empty; anything else is an error.
bool is_or_reports(const Place& place, Kind kind) {
  if (place.node == nullptr || place.node->kind == Kind::null) return false;
  if (place.node->kind == kind) return true;
  expect(place, kind == Kind::list ? "a list" : "a map");
  return false;
}

std::string advice(const std::string& key, const YamlNode& map,
                   const std::set<std::string, std::less<>>& asked) {
  std::vector<std::string_view> absent;
  for (const std::string& name : asked) {
    if (map.child(name) == nullptr) absent.push_back(name);
  }
  std::string suggestion = did_you_mean(key, absent);
  if (!suggestion.empty() || asked.empty()) return suggestion;
  constexpr std::size_t kListable = 16;
  if (asked.size() > kListable) return {};
  return "; known here: " + joined(std::vector<std::string_view>(asked.begin(), asked.end()));
}

std::optional<Error> first_unknown(const yaml_detail::State& state, const YamlNode& node,
                                   const std::string& path) {
  if (state.ignored.contains(&node)) return std::nullopt;
  if (node.kind == Kind::list) {
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      if (auto unknown = first_unknown(state, node.items[i], below(path, std::to_string(i)))) return unknown;
    }
    return std::nullopt;
  }
  const auto found = state.asked.find(&node);
  const std::set<std::string, std::less<>> none;
  const auto& asked = found == state.asked.end() ? none : found->second;
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const std::string field = below(path, node.keys[i]);
    if (!asked.contains(node.keys[i])) {
      return invalid(prefix(state.file_name, node.items[i], field) + "unknown field" +
                     advice(node.keys[i], node, asked));
    }
    if (auto unknown = first_unknown(state, node.items[i], field)) return unknown;
  }
  return std::nullopt;
}

// Where a required field is missing, a misspelt one beside it explains it better. To be asked at the end,
// when every field that is known has been asked for.
std::optional<Error> misspelt_in_place_of(yaml_detail::State& state) {
  const yaml_detail::Missing& missing = *state.missing;
  const YamlNode& map = *missing.holder;
  const auto& asked = state.asked[&map];
  const std::string_view candidate[] = {missing.key};
  for (std::size_t i = 0; i < map.keys.size(); ++i) {
    if (asked.contains(map.keys[i]) || nearest_spelling(map.keys[i], candidate).empty()) continue;
    return invalid(prefix(state.file_name, map.items[i], below(missing.holder_path, map.keys[i])) +
                   "unknown field" + did_you_mean(map.keys[i], candidate));
  }
  return std::nullopt;
}

}  // namespace

void Place::fail(const std::string& message) const {
  if (state->first_error) return;
  state->first_error = invalid(prefix(state->file_name, node != nullptr ? *node : *holder, path) + message);
}

void Place::fail_range(const std::string& expected) const { expect(*this, expected); }

void Place::fail_missing() const {
  if (state->first_error) return;
  fail("this field is required");
  state->missing = Missing{holder, holder_path, key};
}

YamlReader::YamlReader(const YamlFile& file)
    : place_{std::make_shared<yaml_detail::State>(), &file.root(), &file.root(), "", "", ""} {
  place_.state->file_name = file.name();
}

Place YamlReader::find(std::string_view path) {
  Place place = place_;
  if (path.empty()) return place;
  for (const std::string& key : split_yaml_path(path)) {
    std::string holder_path = std::exchange(place.path, below(place.path, key));
    if (place.node == nullptr) continue;  // already absent: only the path grows
    const YamlNode* holder = std::exchange(place.node, nullptr);
    place.holder = holder;
    place.key = key;
    place.holder_path = std::move(holder_path);
    if (holder->kind == Kind::map) {
      place.state->asked[holder].insert(key);
      place.node = holder->child(key);
    } else if (holder->kind != Kind::null) {
      expect(Place{place.state, holder, holder, place.holder_path, "", ""}, "a map");
    }
  }
  return place;
}

YamlField<double> YamlReader::number(std::string_view path) {
  Place place = find(path);
  const std::string* text = plain_scalar_of(place, "a number");
  const auto value = text != nullptr ? parse_number(*text) : std::nullopt;
  if (text != nullptr && !value) expect(place, "a number");
  return {std::move(place), value};
}

YamlField<std::int64_t> YamlReader::integer_between(std::string_view path, std::int64_t low,
                                                    std::int64_t high) {
  Place place = find(path);
  const std::string* text = plain_scalar_of(place, "a whole number");
  const auto value = text != nullptr ? parse_integer(*text) : std::nullopt;
  if (text != nullptr && !value) expect(place, "a whole number");
  YamlField<std::int64_t> field(std::move(place), value);
  field.between(low, high);
  return field;
}

YamlField<bool> YamlReader::boolean(std::string_view path) {
  Place place = find(path);
  const std::string* text = plain_scalar_of(place, "true or false");
  if (text == nullptr) return {std::move(place), std::nullopt};
  if (*text == "true") return {std::move(place), true};
  if (*text == "false") return {std::move(place), false};
  expect(place, "true or false");
  return {std::move(place), std::nullopt};
}

YamlField<std::string> YamlReader::text(std::string_view path) {
  Place place = find(path);
  const std::string* text = scalar_of(place, "a text");
  return {std::move(place), text != nullptr ? std::optional(*text) : std::nullopt};
}

YamlField<Duration> YamlReader::duration(std::string_view path) {
  return parsed<Duration>(find(path), "a duration such as 20s", parse_duration);
}
YamlField<Bytes> YamlReader::bytes(std::string_view path) {
  return parsed<Bytes>(find(path), "a size such as 4GiB", parse_byte_size);
}
YamlField<BytesPerSecond> YamlReader::byte_rate(std::string_view path) {
  return parsed<BytesPerSecond>(find(path), "a rate such as 36MB/s", parse_byte_rate);
}
YamlField<MilliCpu> YamlReader::cpu(std::string_view path) {
  return parsed<MilliCpu>(find(path), "an amount of CPU such as 500m or 2", parse_cpu);
}

YamlField<std::vector<double>> YamlReader::numbers(std::string_view path) {
  Place place = find(path);
  if (place.node == nullptr) return {std::move(place), std::nullopt};
  std::vector<double> values;
  for (YamlReader& item : list(path)) values.push_back(item.number("").or_else(0));
  return {std::move(place), std::move(values)};
}

YamlField<std::vector<std::string>> YamlReader::texts(std::string_view path) {
  Place place = find(path);
  if (place.node == nullptr) return {std::move(place), std::nullopt};
  std::vector<std::string> values;
  for (YamlReader& item : list(path)) values.push_back(item.text("").or_else(""));
  return {std::move(place), std::move(values)};
}

YamlField<std::size_t> YamlReader::index_of(std::string_view path,
                                            const std::vector<std::string_view>& names) {
  Place place = find(path);
  const std::string expected = names.size() == 1 ? std::string(names.front()) : "one of " + joined(names);
  const std::string* text = scalar_of(place, expected.c_str());
  if (text == nullptr) return {std::move(place), std::nullopt};
  const auto found = std::find(names.begin(), names.end(), *text);
  if (found != names.end()) return {std::move(place), static_cast<std::size_t>(found - names.begin())};
  place.fail("expected " + expected + ", found " + described(*place.node) + did_you_mean(*text, names));
  return {std::move(place), std::nullopt};
}

YamlField<std::string> YamlReader::word(std::string_view path,
                                        std::initializer_list<std::string_view> options) {
  Place place = find(path);
  const auto index = index_of(path, options).optional();
  return {std::move(place), index ? std::optional(std::string(options.begin()[*index])) : std::nullopt};
}

bool YamlReader::is_list(std::string_view path) {
  const yaml_detail::Place place = find(path);
  return place.node != nullptr && place.node->kind == YamlNode::Kind::list;
}

bool YamlReader::has(std::string_view path) {
  const Place place = find(path);
  return place.node != nullptr && place.node->kind != Kind::null;
}

YamlReader YamlReader::map(std::string_view path) {
  Place place = find(path);
  const bool is_empty = place.node != nullptr && place.node->kind == Kind::null;
  if (!is_or_reports(place, Kind::map) && !is_empty) place.node = nullptr;
  return YamlReader(std::move(place));
}

std::vector<YamlReader> YamlReader::list(std::string_view path) {
  std::vector<YamlReader> readers;
  const Place place = find(path);
  if (!is_or_reports(place, Kind::list)) return readers;
  for (std::size_t i = 0; i < place.node->items.size(); ++i) readers.push_back(YamlReader(item_of(place, i)));
  return readers;
}

std::vector<std::pair<std::string, YamlReader>> YamlReader::entries(std::string_view path) {
  std::vector<std::pair<std::string, YamlReader>> readers;
  const Place place = find(path);
  if (!is_or_reports(place, Kind::map)) return readers;
  for (std::size_t i = 0; i < place.node->keys.size(); ++i) {
    const std::string& key = place.node->keys[i];
    place.state->asked[place.node].insert(key);
    const YamlNode* item = &place.node->items[i];
    readers.emplace_back(key, YamlReader(Place{place.state, item, item, below(place.path, key), "", ""}));
  }
  return readers;
}

void YamlReader::ignore(std::string_view path) {
  const Place place = find(path);
  if (place.node != nullptr) place.state->ignored.insert(place.node);
}

void YamlReader::fail(std::string_view path, const std::string& message) { find(path).fail(message); }

std::optional<Error> YamlReader::finish() {
  yaml_detail::State& state = *place_.state;
  if (state.missing) {
    if (auto misspelt = misspelt_in_place_of(state)) return misspelt;
  }
  if (state.first_error) return state.first_error;
  if (place_.node == nullptr) return std::nullopt;
  return first_unknown(state, *place_.node, place_.path);
}

}  // namespace evenkeel
