#include "controllers/link_costs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <queue>
#include <set>
#include <utility>

namespace evenkeel::controllers {
namespace {

using Pair = std::pair<std::string, std::string>;
using Samples = std::map<Pair, std::vector<double>>;
using Graph = std::map<std::string, std::map<std::string, double>>;

double median(std::vector<double> values) {
  const std::size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle), values.end());
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle] +
          *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle))) /
         2;
}

std::optional<double> measured(const Samples& samples, const Pair& pair) {
  auto at = samples.find(pair);
  if (at == samples.end()) at = samples.find({pair.second, pair.first});
  if (at == samples.end()) return std::nullopt;
  return median(at->second);
}

Graph graph_of(const Samples& samples) {
  Graph graph;
  for (const auto& [pair, values] : samples) {
    graph[pair.first][pair.second] = *measured(samples, pair);
    graph[pair.second].try_emplace(pair.first, *measured(samples, {pair.second, pair.first}));
  }
  return graph;
}

// Of all there is a way to.
std::map<std::string, double> shortest(const Graph& graph, const std::string& origin) {
  std::map<std::string, double> best{{origin, 0}};
  using Reached = std::pair<double, std::string>;
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> open;
  open.emplace(0, origin);
  while (!open.empty()) {
    const auto [length, here] = open.top();
    open.pop();
    const auto next = graph.find(here);
    if (length > best.at(here) || next == graph.end()) continue;
    for (const auto& [there, leg] : next->second) {
      const auto [at, is_new] = best.try_emplace(there, std::numeric_limits<double>::infinity());
      if (length + leg >= at->second) continue;
      at->second = length + leg;
      open.emplace(at->second, there);
    }
  }
  return best;
}

// Zones by their region as well: those of two regions may have the same name.
std::string name_of(const Place& place) { return place.region + "\n" + place.zone; }

struct Sampled {
  Samples zones, regions;  // by what a topology calls them
  Samples places;          // by region and zone
};

Sampled sampled(std::span<const Measurement> measurements, const Places& nodes) {
  Sampled made;
  for (const Measurement& one : measurements) {
    const Place &from = nodes.at(one.origin), &to = nodes.at(one.destination);
    if (from == to) continue;
    made.places[{name_of(from), name_of(to)}].push_back(one.milliseconds);
    if (from.region == to.region)
      made.zones[{from.zone, to.zone}].push_back(one.milliseconds);
    else
      made.regions[{from.region, to.region}].push_back(one.milliseconds);
  }
  return made;
}

class Calculation {
 public:
  Calculation(LinkCosts& into, const Samples& direct, const Graph& ways)
      : into_(into), direct_(direct), ways_(ways) {}

  // What a place is called in the graph may differ from what the link calls it.
  void add(LinkId link, const std::string& from, const std::string& to) {
    if (into_.costs.contains(link)) return;  // of another region's zone of the same name
    if (const auto found = measured(direct_, {link.origin, link.destination})) {
      ++into_.measured;
      return set(std::move(link), *found);
    }
    if (from_ != from) {
      from_ = from;
      reached_ = shortest(ways_, from);
    }
    const auto at = reached_.find(to);
    if (at == reached_.end()) {
      into_.unknown.push_back(std::move(link));
      return;
    }
    ++into_.by_way_of_others;
    set(std::move(link), at->second);
  }

 private:
  void set(LinkId link, double milliseconds) {
    into_.costs.emplace(std::move(link), std::max<std::int64_t>(1, std::llround(milliseconds)));
  }

  LinkCosts& into_;
  const Samples& direct_;
  const Graph& ways_;
  std::string from_ = "\n\n";  // nobody's name
  std::map<std::string, double> reached_;
};

}  // namespace

LinkCosts link_costs(std::span<const Measurement> measurements, const Places& nodes) {
  LinkCosts made;
  std::map<std::string, std::set<std::string>> zones;  // by region
  std::map<std::string, std::set<std::string>> regions_of;
  for (const auto& [node, place] : nodes) {
    if (!place.zone.empty()) zones[place.region].insert(place.zone);
    if (place.zone.empty()) zones.try_emplace(place.region);
    if (!place.zone.empty()) regions_of[place.zone].insert(place.region);
  }
  for (const auto& [zone, regions] : regions_of)
    if (regions.size() > 1) made.shared_zones.push_back(zone);
  std::size_t links = zones.size() * zones.size();
  for (const auto& [region, names] : zones) links += names.size() * names.size();
  made.is_too_big = links > kMostLinks;
  if (made.is_too_big) return made;

  const Sampled samples = sampled(measurements, nodes);
  const Graph places = graph_of(samples.places), regions = graph_of(samples.regions);
  Calculation by_zone(made, samples.zones, places), by_region(made, samples.regions, regions);
  for (const auto& [region, names] : zones) {
    for (const std::string& from : names)
      for (const std::string& to : names)
        if (from != to)
          by_zone.add({LinkId::Level::zone, from, to}, name_of({region, from}), name_of({region, to}));
    for (const auto& [other, unused] : zones)
      if (other != region && !other.empty() && !region.empty())
        by_region.add({LinkId::Level::region, region, other}, region, other);
  }
  return made;
}

}  // namespace evenkeel::controllers
