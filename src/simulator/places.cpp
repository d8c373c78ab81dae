#include "simulator/places.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/csv_reader.h"

namespace evenkeel::simulator {
namespace {

using namespace std::chrono_literals;

std::string label(const Node& node, std::string_view key) {
  const std::string* found = node.labels.find(key);
  return found ? *found : std::string();
}

std::optional<BitsPerSecond> read_bandwidth(YamlReader& from) {
  const auto rate = from.byte_rate("bandwidth").more_than({0}).optional();
  return rate ? std::optional(BitsPerSecond{8 * rate->count}) : std::nullopt;
}

// Kubernetes allows no more in a label.
std::string as_label(std::string_view text) {
  std::string name(text);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.') c = '-';
  return name;
}

}  // namespace

void Places::read_level(YamlReader root, Level& level) {
  level.cost = root.integer("cost").at_least(0).optional();
  level.bandwidth = read_bandwidth(root);
  for (YamlReader& link : root.list("list")) {
    const Link read{link.integer("cost").at_least(0).required(), read_bandwidth(link)};
    if (!link.has("between")) {
      level.links[{link.text("from").required(), link.text("to").required()}] = read;
      continue;
    }
    const std::vector<std::string> ends = link.texts("between").required();
    if (ends.size() != 2) {
      link.fail("between", "expected two names");
      continue;
    }
    level.links[{ends[0], ends[1]}] = level.links[{ends[1], ends[0]}] = read;
  }
  level.path = root.text("trace").or_else("");
  if (level.path.empty()) return;
  const Status read = read_trace(level, &level == &zones_);
  if (!read) root.fail("trace", read.error().message);
}

Status Places::read_trace(Level& level, bool of_zones) {
  Result<CsvReader> csv = CsvReader::open(level.path);
  if (!csv) return csv.error();
  const CsvColumn window = csv->optional_column("window_end");
  const CsvColumn region = of_zones ? csv->column("region") : CsvColumn{};
  const CsvColumn src = csv->column(of_zones ? "src_zone" : "src"),
                  dst = csv->column(of_zones ? "dst_zone" : "dst"), rtt = csv->column("rtt_avg_ms");
  std::string last;
  while (csv->next()) {
    if (window && csv->text(window) < last) continue;
    if (window && csv->text(window) > last) {
      last = csv->text(window);
      level.links.clear();
      if (of_zones) region_of_.clear();
    }
    const std::string from = as_label(csv->text(src)), to = as_label(csv->text(dst));
    const double ms = csv->number(rtt);
    if (ms < 0) csv->fail(rtt, "expected 0 or more");
    if (of_zones) region_of_[from] = region_of_[to] = as_label(csv->text(region));
    level.links[{from, to}] = {std::max<std::int64_t>(1, std::llround(ms / unit_ms())), level.bandwidth};
  }
  if (const auto bad = csv->finish()) return *bad;
  if (level.links.empty()) return invalid(level.path + ": expected at least one row");
  return {};
}

Places Places::read(YamlReader& root) {
  Places places;
  places.unit_ = root.duration("network.unit").more_than(0us).or_else(places.unit_);
  places.read_level(root.map("network.zones"), places.zones_);
  places.read_level(root.map("network.regions"), places.regions_);
  places.places_ = root.integer<std::size_t>("network.places").at_least(1).or_else(0);
  places.per_place_ = root.integer("nodes.per_place").between(1, 10'000).or_else(places.per_place_);
  return places;
}

std::string Places::description() const {
  if (!traced()) return "costs of the scenario's own";
  std::string text = "latencies of ";
  if (!regions_.path.empty()) text += regions_.path;
  if (!regions_.path.empty() && !zones_.path.empty()) text += " and ";
  return text + zones_.path;
}

std::vector<Places::Place> Places::traced_places() const {
  std::set<std::string> regions;
  for (const auto& [ends, link] : regions_.links) regions.insert({ends.first, ends.second});
  std::vector<Place> places;
  if (zones_.path.empty()) {
    for (const std::string& region : regions) places.emplace_back(region, region);
    return places;
  }
  for (const auto& [zone, region] : region_of_)
    if (regions_.path.empty() || regions.contains(region)) places.emplace_back(region, zone);
  return places;
}

void Places::add_nodes(const NodePlan& pattern, Random random, WorldPlan& plan) const {
  if (!traced()) return;
  std::vector<Place> places = traced_places();
  if (places_ > 0 && places_ < places.size()) {
    random.shuffle(places);
    places.resize(places_);
    std::sort(places.begin(), places.end());
  }
  for (const auto& [region, zone] : places)
    for (std::int64_t i = 1; i <= per_place_; ++i) {
      Node& node = plan.nodes.emplace_back(pattern).node;
      node.name = zone + "-" + std::to_string(i);
      node.labels.set("kubernetes.io/hostname", node.name);
      node.labels.set(kRegionLabel, region);
      node.labels.set(kZoneLabel, zone);
    }
}

NetworkTopology::Level Places::level_of(const Level& level, std::string_view key,
                                        const std::vector<std::pair<std::string, std::string>>& pairs) {
  NetworkTopology::Level made;
  made.topology_key = key;
  for (const auto& [from, to] : pairs) {
    const auto listed = level.links.find({from, to});
    if (listed == level.links.end() && !level.cost) continue;  // nobody knows
    if (made.origins.empty() || made.origins.back().origin != from) made.origins.push_back({from, {}});
    const Link link = listed == level.links.end() ? Link{*level.cost, level.bandwidth} : listed->second;
    const std::optional<BitsPerSecond> capacity = link.bandwidth ? link.bandwidth : level.bandwidth;
    made.origins.back().costs.push_back({to, link.cost, capacity, std::nullopt});
  }
  return made;
}

NetworkTopology Places::topology(const WorldPlan& plan) const {
  std::set<Place> places;
  for (const NodePlan& node : plan.nodes)
    places.emplace(label(node.node, kRegionLabel), label(node.node, kZoneLabel));
  std::set<std::pair<std::string, std::string>> zones, regions;
  for (const auto& [region, zone] : places)
    for (const auto& [other_region, other_zone] : places) {
      if (region != other_region)
        regions.emplace(region, other_region);
      else if (zone != other_zone)
        zones.emplace(zone, other_zone);
    }
  NetworkTopology topology;
  topology.name_space = "default";
  topology.name = "nt-default";
  topology.weights.push_back({"UserDefined",
                              {level_of(regions_, kRegionLabel, {regions.begin(), regions.end()}),
                               level_of(zones_, kZoneLabel, {zones.begin(), zones.end()})}});
  return topology;
}

}  // namespace evenkeel::simulator
