#include "controllers/measurements.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/numbers.h"

namespace evenkeel::controllers {
namespace {

constexpr double kLongest = 1e7;  // ms: nobody waits three hours for an answer
constexpr std::string_view kDestination = ".destination.";

struct Key {
  int percentile = 0;
  bool is_micro = false;
  std::string_view nodes;  // A.destination.B
};

// Takes a word off the front, with a point or an underscore before it unless it is the first.
bool take(std::string_view& text, std::string_view word, bool is_first = false) {
  std::string_view rest = text;
  if (!is_first) {
    if (!rest.starts_with('.') && !rest.starts_with('_')) return false;
    rest.remove_prefix(1);
  }
  if (!rest.starts_with(word)) return false;
  rest.remove_prefix(word.size());
  text = rest;
  return true;
}

std::optional<Key> parse_key(std::string_view text) {
  Key key;
  if (!take(text, "netperf", true)) return std::nullopt;
  if (take(text, "p50"))
    key.percentile = 50;
  else if (take(text, "p90"))
    key.percentile = 90;
  else if (take(text, "p99"))
    key.percentile = 99;
  else
    return std::nullopt;
  if (!take(text, "latency")) return std::nullopt;
  key.is_micro = take(text, "microseconds");
  if (!key.is_micro && !take(text, "milliseconds")) return std::nullopt;
  if (!take(text, "origin.")) return std::nullopt;
  key.nodes = text;
  return key;
}

using Pair = std::pair<std::string, std::string>;

std::optional<Pair> cut(std::string_view text, const Places& nodes) {
  for (std::size_t at = text.find(kDestination); at != std::string_view::npos;
       at = text.find(kDestination, at + 1)) {
    Pair pair{text.substr(0, at), text.substr(at + kDestination.size())};
    if (nodes.contains(pair.first) && nodes.contains(pair.second)) return pair;
  }
  return std::nullopt;
}

}  // namespace

Measurements read_measurements(const std::map<std::string, std::string>& data, const Places& nodes,
                               int percentile) {
  Measurements found;
  std::array<std::map<Pair, double>, 2> by_unit;  // the finer one first
  for (const auto& [name, value] : data) {
    const std::optional<Key> key = parse_key(name);
    if (!key) continue;
    if (key->percentile != percentile) {
      found.has_other_percentiles = true;
      continue;
    }
    const std::optional<double> number = parse_number(value);
    const double milliseconds = number.value_or(-1) * (key->is_micro ? 1e-3 : 1);
    if (!(milliseconds >= 0 && milliseconds <= kLongest)) {
      found.unreadable.push_back(name);
      continue;
    }
    auto pair = cut(key->nodes, nodes);
    if (!pair)
      ++found.unknown_nodes;
    else if (pair->first != pair->second)
      by_unit[key->is_micro ? 0 : 1].emplace(*std::move(pair), milliseconds);
  }
  by_unit[0].merge(by_unit[1]);
  for (const auto& [pair, milliseconds] : by_unit[0])
    found.all.push_back({pair.first, pair.second, milliseconds});
  return found;
}

}  // namespace evenkeel::controllers
