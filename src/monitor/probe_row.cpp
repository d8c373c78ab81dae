#include "monitor/probe_row.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace evenkeel::monitor {
namespace {

constexpr std::array<std::string_view, 3> kPercentiles = {"p50", "p90", "p99"};
constexpr std::string_view kOrigin = ".origin.", kDestination = ".destination.";
constexpr std::string_view kBandwidth = "netperf.bandwidth.bitspersecond";
constexpr std::size_t kLongestKey = 253, kLongestValue = 16;
constexpr std::size_t kQuotes = 6;  // what an entry takes beside its letters

std::string milliseconds_key(std::string_view percentile) {
  return "netperf." + std::string(percentile) + ".latency.milliseconds";
}
std::string microseconds_key(std::string_view percentile) {
  return "netperf_" + std::string(percentile) + "_latency_microseconds";
}
std::string path_of(const std::string& origin, const std::string& destination) {
  return std::string(kOrigin) + origin + std::string(kDestination) + destination;
}

double at(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

std::string whole_milliseconds(double microseconds) {
  return std::to_string(std::max<std::int64_t>(1, std::llround(microseconds / 1000)));
}

std::string tenths(double value) {
  char text[32];
  (void)std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

// Where each of the possible origins ends.
template <class Says>
bool any_reading(std::string_view key, const Says& says) {
  if (!key.starts_with("netperf")) return false;
  const std::size_t begin = key.find(kOrigin);
  if (begin == std::string_view::npos) return false;
  const std::string_view names = key.substr(begin + kOrigin.size());
  for (std::size_t cut = names.find(kDestination); cut != std::string_view::npos;
       cut = names.find(kDestination, cut + 1))
    if (says(names.substr(0, cut), names.substr(cut + kDestination.size()))) return true;
  return false;
}

bool is_path(std::string_view key) {
  return any_reading(key, [](std::string_view, std::string_view) { return true; });
}

}  // namespace

std::optional<PathFigures> figures_of(std::vector<double> round_trips_us) {
  if (round_trips_us.empty()) return std::nullopt;
  std::ranges::sort(round_trips_us);
  return PathFigures{.p50_us = at(round_trips_us, 0.5),
                     .p90_us = at(round_trips_us, 0.9),
                     .p99_us = at(round_trips_us, 0.99),
                     .bits_per_second = std::nullopt};
}

std::map<std::string, std::string> entries_of(const std::string& origin, const std::string& destination,
                                              const PathFigures& figures) {
  const std::string path = path_of(origin, destination);
  const std::array<double, 3> times = {figures.p50_us, figures.p90_us, figures.p99_us};
  std::map<std::string, std::string> entries;
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    entries[milliseconds_key(kPercentiles[i]) + path] = whole_milliseconds(times[i]);
    entries[microseconds_key(kPercentiles[i]) + path] = tenths(times[i]);
  }
  if (figures.bits_per_second)
    entries[std::string(kBandwidth) + path] = std::to_string(std::llround(*figures.bits_per_second));
  return entries;
}

std::vector<std::string> keys_of(const std::string& origin, const std::string& destination) {
  const std::string path = path_of(origin, destination);
  std::vector<std::string> keys;
  for (const std::string_view percentile : kPercentiles) {
    keys.push_back(milliseconds_key(percentile) + path);
    keys.push_back(microseconds_key(percentile) + path);
  }
  keys.push_back(std::string(kBandwidth) + path);
  return keys;
}

bool fits_in_a_key(const std::string& origin, const std::string& destination) {
  return std::ranges::all_of(keys_of(origin, destination),
                             [](const std::string& key) { return key.size() <= kLongestKey; });
}

std::size_t bytes_of_path(std::size_t longest_name) {
  const std::string name(longest_name, 'n');
  std::size_t bytes = 0;
  for (const std::string& key : keys_of(name, name)) bytes += key.size() + kLongestValue + kQuotes;
  return bytes;
}

Result<std::size_t> most_paths_of(const std::vector<ProbeMember>& members, ProbeMode mode) {
  std::size_t longest = 1;
  for (const ProbeMember& member : members) longest = std::max(longest, member.node.size());
  const std::size_t fit = kMostConfigMapBytes / bytes_of_path(longest);
  const std::size_t nodes = std::max<std::size_t>(members.size(), 1);
  if (mode == ProbeMode::basic && nodes <= fit) return fit / nodes;
  const std::size_t pairs = mode == ProbeMode::basic ? nodes : pairs_of(members, mode);
  if (mode != ProbeMode::basic && pairs <= fit) return nodes;
  return invalid("mode " + std::string(name_of(mode)) + " of " + std::to_string(members.size()) +
                 " nodes has " + std::to_string(pairs) + " paths, and a ConfigMap holds " +
                 std::to_string(fit) +
                 (mode == ProbeMode::zones ? ": there are too many zones" : ": use mode zones"));
}

std::vector<std::string> orphans(const std::vector<std::string>& keys, const std::set<std::string>& nodes,
                                 std::string_view origin) {
  std::vector<std::string> gone;
  for (const std::string& key : keys) {
    if (!is_path(key)) continue;
    const bool is_ours = origin.empty() || any_reading(key, [&](std::string_view from, std::string_view) {
                           return from == origin;
                         });
    const bool is_there = any_reading(key, [&](std::string_view from, std::string_view to) {
      return nodes.contains(std::string(from)) && nodes.contains(std::string(to));
    });
    if (is_ours && !is_there) gone.push_back(key);
  }
  return gone;
}

void ProbeRow::found(const std::vector<std::string>& keys, const std::set<std::string>& nodes, Time now) {
  for (const std::string& key : keys)
    (void)any_reading(key, [&](std::string_view from, std::string_view to) {
      const bool is_ours = from == origin_ && nodes.contains(std::string(to));
      if (is_ours) paths_.try_emplace(std::string(to), Path{.figures = std::nullopt, .measured = now});
      return is_ours;
    });
}

void ProbeRow::keep_only(const std::set<std::string>& nodes) {
  std::vector<std::string> gone;
  for (const auto& [destination, path] : paths_)
    if (!nodes.contains(destination)) gone.push_back(destination);
  for (const std::string& destination : gone) forget(destination);
}

void ProbeRow::measured(const std::string& destination, const PathFigures& figures, Time now) {
  Path& path = paths_[destination];
  PathFigures merged = figures;
  // Bandwidth is measured rarely: the last figure stands until there is another.
  if (!merged.bits_per_second && path.figures) merged.bits_per_second = path.figures->bits_per_second;
  path = {.figures = merged, .measured = now};
  for (auto& [key, value] : entries_of(origin_, destination, merged)) pending_[key] = value;
}

void ProbeRow::forget(const std::string& destination) {
  for (const std::string& key : keys_of(origin_, destination)) pending_[key] = std::nullopt;
  paths_.erase(destination);
}

ConfigChanges ProbeRow::changes(const Bounds& bounds, Time now) {
  std::vector<std::pair<Time, std::string>> by_age;
  for (const auto& [destination, path] : paths_) by_age.emplace_back(path.measured, destination);
  std::ranges::sort(by_age);
  std::size_t left = by_age.size();
  for (const auto& [measured, destination] : by_age) {
    if (left <= bounds.most_paths && now - measured <= bounds.keep) break;
    forget(destination);
    --left;
  }
  return std::exchange(pending_, {});
}

void ProbeRow::not_written(const ConfigChanges& changes) {
  for (const auto& [key, value] : changes) pending_.try_emplace(key, value);
}

}  // namespace evenkeel::monitor
